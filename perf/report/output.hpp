// Where a run's rows go: a file that is valid and marked incomplete at any moment until the end, and
// the terminal.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace keramos::perf {

// Written beside it first, then put in its place: readers never see half a file. Of a symlink, the file that it leads
// to; what is no regular file (/dev/stdout, a pipe) is written as it is. Throws std::runtime_error.
void replace_file(const std::string& path, const std::string& content);

// Throws usage_error if the folder of --output PATH does not exist; of a file also if it is a folder itself.
void check_output_folder(const std::string& path);
void check_output_file(const std::string& path);

class run_output {
 public:
  // format: "table", "json" or "csv"; "": a table, and for the file what its name says. The file (path
  // may be empty) gets the rows; the terminal the table, or without a file whatever the format says.
  run_output(std::string format, std::string path);

  // What a file of that path gets: "json", "csv" or "table".
  static std::string file_format(const std::string& format, const std::string& path);

  nlohmann::ordered_json context = nlohmann::ordered_json::object();  // the run's; "complete" is added
  nlohmann::ordered_json more;  // further parts of the JSON document, by name

  void print(const std::string& text);  // a piece of the table
  void add(nlohmann::ordered_json row) { rows_.push_back(std::move(row)); }
  const nlohmann::ordered_json& rows() const { return rows_; }
  void save();
  // The end: complete, or why not in a few words. Throws std::runtime_error if the results cannot be written.
  void finish(const std::string& incomplete_because = {});

 private:
  bool table_is_shown() const;
  std::string rendered(const std::string& format) const;

  std::string format_, path_, file_format_;
  nlohmann::ordered_json rows_ = nlohmann::ordered_json::array();
  std::string table_text_;
};

}  // namespace keramos::perf
