"""ReFrame test of every GPU, or every node's cores, with keramos-perf:

    reframe -C site_settings.py -c perf/cluster/reframe_keramos.py -r -S program=/opt/keramos/bin/keramos-perf

Passes if every result is verified and no rank is slower than the median rank by more than `outlier`;
logs the median and the slowest rank's rate for ReFrame's performance references.
"""

import json
import os

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import parameter, performance_function, run_after, run_before, sanity_function, variable


@rfm.simple_test
class KeramosGemm(rfm.RunOnlyRegressionTest):
    descr = "GEMM on all ranks, verified, with outliers named"
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    program = variable(str, value="keramos-perf")
    size = variable(int, value=4096)
    outlier = variable(float, value=1.05)
    nodes = variable(int, value=1)
    ranks_per_node = variable(int, value=0)  # 0: the partition's GPUs, or one
    data_type = parameter(["f32", "f64"])
    tags = {"performance", "acceptance"}
    time_limit = "30m"

    @run_after("setup")
    def place_ranks(self):
        gpus = sum(device.num_devices for device in self.current_partition.devices if device.type == "gpu")
        self.num_tasks_per_node = self.ranks_per_node or max(1, gpus)
        self.num_tasks = self.nodes * self.num_tasks_per_node
        if gpus:
            self.num_gpus_per_node = gpus
        processor = self.current_partition.processor
        if processor.num_cpus:
            self.num_cpus_per_task = processor.num_cpus // self.num_tasks_per_node

    @run_before("run")
    def command(self):
        self.executable = self.program
        self.executable_opts = [
            "gemm", "--provider", "keramos", "--type", self.data_type, "--size", str(self.size),
            "--outlier", str(self.outlier), "--output", "results.json"]

    @sn.deferrable
    def results(self):
        with open(os.path.join(self.stagedir, "results.json"), encoding="utf-8") as file:
            return json.load(file)

    @sanity_function
    def every_rank_is_right_and_alike(self):
        results = self.results()
        slow = sn.defer([rank["rank"] for rank in results.evaluate().get("job", {}).get("ranks", [])
                         if rank["outlier"]])
        return sn.all([
            sn.assert_true(results["context"]["complete"], "the run is incomplete"),
            sn.assert_true(sn.all(sn.map(lambda row: row["verified"], results["results"])), "a result is wrong"),
            sn.assert_eq(slow, [], "slow ranks: {0}"),
        ])

    def rates(self):
        return sorted(row["gflops"] for row in self.results().evaluate()["results"] if row["gflops"])

    @performance_function("GFLOP/s")
    def median_rank(self):
        rates = self.rates()
        return rates[len(rates) // 2]

    @performance_function("GFLOP/s")
    def slowest_rank(self):
        return self.rates()[0]
