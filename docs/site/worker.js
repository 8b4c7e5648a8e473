// Browsers start no worker from a file, and the search runs in one. This one runs in a hidden frame instead.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.documentElement.append(frame);
      this.scope = frame.contentWindow;
      this.scope.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }));
      const script = this.scope.document.createElement("script");
      this.ready = new Promise((loaded, failed) => { script.onload = loaded; script.onerror = failed; });
      script.src = new URL(url, location);
      this.scope.document.documentElement.append(script);
    }
    postMessage(data) {
      this.ready.then(() => this.scope.dispatchEvent(new this.scope.MessageEvent("message", { data })));
    }
    terminate() {}
  };
}
