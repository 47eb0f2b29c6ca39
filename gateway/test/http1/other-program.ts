export interface OtherProgram<Told> {
  /** What it makes of a text, of which each character is a byte. */
  ask(text: string): Promise<Told>;
  stop(): void;
}

/** A program of Node's in a process of its own: it is told texts, a line of base64 each, and answers each with a line of JSON. */
export function startOther<Told>(file: string): OtherProgram<Told> {
  const program = Bun.which("node");
  if (program === null) throw new Error("npm needs Node, so it is here");
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
      return JSON.parse(line) as Told;
    },
    stop: () => child.kill(),
  };
}
