// Filters the output of a test suite: failed and skipped tests in full, a progress line now and then for the rest, and the totals.

const headerPattern = /^(\S+\.test\.tsx?):$/;
const filesPerLine = 50;
const linesOfFailureMax = 60;

/** Accepts the runner's output in chunks of any size. `end` returns the totals and the last lines of each failure. */
export class SuiteOutput {
  #write;
  #unfinished = "";
  #file = "";
  #fileShown = true;
  #files = new Set();
  #passedSoFar = 0;
  /** A title that contains a printed object spans several lines. */
  #inMultilineTitle = false;
  #totals = { pass: 0, fail: 0, skip: 0, error: 0 };
  /** Lines since the last test result. */
  #sinceResult = [];
  #failures = [];
  /** The runner lists the failures again at the end, without their output. */
  #inRunnerSummary = false;

  constructor(write) {
    this.#write = write;
  }

  push(text) {
    const lines = (this.#unfinished + text).split("\n");
    this.#unfinished = lines.pop() ?? "";
    for (const line of lines) this.#readLine(line);
  }

  end() {
    if (this.#unfinished !== "") this.#readLine(this.#unfinished);
    this.#unfinished = "";
    const { pass, fail, skip, error } = this.#totals;
    return { passed: pass, failed: fail + error, skipped: skip, failures: this.#failures };
  }

  #readLine(line) {
    const header = headerPattern.exec(line)?.[1];
    if (header !== undefined) {
      this.#file = header;
      this.#fileShown = false;
      this.#sinceResult = [];
      // With two processes the header of a file is printed again each time that the output returns to it.
      const before = this.#files.size;
      this.#files.add(header);
      if (this.#files.size > before && this.#files.size % filesPerLine === 0) {
        this.#write(`… ${this.#files.size} files, ${this.#passedSoFar} passed\n`);
      }
      return;
    }
    if (this.#inMultilineTitle) {
      this.#inMultilineTitle = !/^[}\]]/.test(line) || /[{[]$/.test(line);
      return;
    }
    if (line.startsWith("(pass) ")) {
      this.#passedSoFar++;
      this.#sinceResult = [];
      this.#inMultilineTitle = /[{[]$/.test(line);
      return;
    }
    this.#remember(line);
    const total = /^\s*(\d+) (pass|fail|skip|error)s?$/.exec(line);
    if (total !== null) this.#totals[total[2]] = Number(total[1]);
    if (line.trim() === "" && this.#fileShown === false) return;
    if (!this.#fileShown && total === null && !line.startsWith("Ran ")) {
      this.#fileShown = true;
      this.#write(`${this.#file}:\n`);
    }
    this.#write(`${line}\n`);
  }

  #remember(line) {
    if (/^\d+ tests? failed:$/.test(line)) this.#inRunnerSummary = true;
    if (this.#inRunnerSummary) return;
    this.#sinceResult.push(line);
    if (this.#sinceResult.length > linesOfFailureMax) this.#sinceResult.shift();
    if (!line.startsWith("(fail) ")) return;
    this.#failures.push(`${this.#file}:\n${this.#sinceResult.join("\n")}`);
    this.#sinceResult = [];
  }
}
