// What a suite prints: what failed and what was skipped in full, of the rest a line now and then; and its totals.

const headerPattern = /^(\S+\.test\.tsx?):$/;
const filesPerLine = 50;
const linesOfFailureMax = 60;

/** Takes what the runner writes, in any pieces. `end` gives the totals, and the last lines of each failure again. */
export class SuiteOutput {
  #write;
  #unfinished = "";
  #file = "";
  #fileShown = true;
  #files = new Set();
  #passedSoFar = 0;
  /** A title with a printed object in it goes over several lines. */
  #inLongTitle = false;
  #totals = { pass: 0, fail: 0, skip: 0, error: 0 };
  /** What was written since the last result of a test. */
  #sinceResult = [];
  #failures = [];
  /** The runner itself names the failures once more, without what they said. */
  #inRunnersSummary = false;

  constructor(write) {
    this.#write = write;
  }

  push(text) {
    const lines = (this.#unfinished + text).split("\n");
    this.#unfinished = lines.pop() ?? "";
    for (const line of lines) this.#take(line);
  }

  end() {
    if (this.#unfinished !== "") this.#take(this.#unfinished);
    this.#unfinished = "";
    const { pass, fail, skip, error } = this.#totals;
    return { passed: pass, failed: fail + error, skipped: skip, failures: this.#failures };
  }

  #take(line) {
    const header = headerPattern.exec(line)?.[1];
    if (header !== undefined) {
      this.#file = header;
      this.#fileShown = false;
      this.#sinceResult = [];
      // Of two processes at work the lines come by turns, each turn under the name of its file.
      const before = this.#files.size;
      this.#files.add(header);
      if (this.#files.size > before && this.#files.size % filesPerLine === 0) {
        this.#write(`… ${this.#files.size} files, ${this.#passedSoFar} passed\n`);
      }
      return;
    }
    if (this.#inLongTitle) {
      this.#inLongTitle = !/^[}\]]/.test(line) || /[{[]$/.test(line);
      return;
    }
    if (line.startsWith("(pass) ")) {
      this.#passedSoFar++;
      this.#sinceResult = [];
      this.#inLongTitle = /[{[]$/.test(line);
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
    if (/^\d+ tests? failed:$/.test(line)) this.#inRunnersSummary = true;
    if (this.#inRunnersSummary) return;
    this.#sinceResult.push(line);
    if (this.#sinceResult.length > linesOfFailureMax) this.#sinceResult.shift();
    if (!line.startsWith("(fail) ")) return;
    this.#failures.push(`${this.#file}:\n${this.#sinceResult.join("\n")}`);
    this.#sinceResult = [];
  }
}
