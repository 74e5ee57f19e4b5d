package main

import (
	"bufio"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"
)

const columns = "due_ns,start_ns,latency_ns,target,status,bytes,error\n"

// report holds counts of all requests; unsent ones were due and not started. Times are ns of the epoch.
type report struct {
	Requests      uint64 `json:"requests"`
	WithoutAnswer uint64 `json:"without_answer"`
	Not2xx        uint64 `json:"not_2xx"`
	Unsent        uint64 `json:"unsent"`
	Bytes         uint64 `json:"bytes"`
	FirstStartNs  int64  `json:"first_start_ns"`
	LastEndNs     int64  `json:"last_end_ns"`
}

// rows writes a line a request: which of the load's it was, when it was due and when it started, how long it took to the last byte of its answer; status 0,
// and why, when it got none.
type rows struct {
	file *bufio.Writer
	line []byte
	report
}

func newRows(path string) (*rows, error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	made := &rows{file: bufio.NewWriterSize(file, 1<<18)}
	if _, err = made.file.WriteString(columns); err != nil {
		return nil, err
	}
	return made, made.file.Flush()
}

func (r *rows) add(result *vegeta.Result, target int, due time.Time) error {
	start, status := result.Timestamp.UnixNano(), uint64(result.Code)
	r.Requests++
	r.Bytes += result.BytesIn
	if status == 0 {
		r.WithoutAnswer++
	} else if status < 200 || status > 299 {
		r.Not2xx++
	}
	if r.FirstStartNs == 0 || start < r.FirstStartNs {
		r.FirstStartNs = start
	}
	r.LastEndNs = max(r.LastEndNs, start+int64(result.Latency))
	r.line = r.line[:0]
	for _, number := range []int64{min(due.UnixNano(), start), start, int64(result.Latency), int64(target), int64(status), int64(result.BytesIn)} {
		r.line = append(strconv.AppendInt(r.line, number, 10), ',')
	}
	if status == 0 {
		r.line = append(r.line, strings.NewReplacer(",", " ", "\n", " ", "\r", " ").Replace(result.Error)...)
	}
	_, err := r.file.Write(append(r.line, '\n'))
	return err
}

// end writes the report to path, whole or not at all.
func (r *rows) end(path string) error {
	if err := r.file.Flush(); err != nil {
		return err
	}
	told, err := json.Marshal(r.report)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".partial", told, 0o644); err != nil {
		return err
	}
	return os.Rename(path+".partial", path)
}
