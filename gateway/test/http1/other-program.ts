export interface OtherProgram<Parsed> {
  /** Returns what it parses from a text in which each character is a byte. */
  ask(text: string): Promise<Parsed>;
  stop(): void;
}

/** A Node program in a separate process. It reads texts as lines of base64 and answers each with a line of JSON. */
export function startOther<Parsed>(file: string): OtherProgram<Parsed> {
  const program = Bun.which("node");
  if (program === null) throw new Error("Node is missing, although npm requires it");
  const child = Bun.spawn([program, "--no-warnings", file], { stdin: "pipe", stdout: "pipe", stderr: "inherit" });
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let held = "";
  return {
    async ask(text) {
      child.stdin.write(`${Buffer.from(text, "latin1").toString("base64")}\n`);
      child.stdin.flush();
      while (!held.includes("\n")) {
        const { value, done } = await lines.read();
        if (done) throw new Error(`${file} has ended`);
        held += value;
      }
      const end = held.indexOf("\n");
      const line = held.slice(0, end);
      held = held.slice(end + 1);
      return JSON.parse(line) as Parsed;
    },
    stop: () => child.kill(),
  };
}
