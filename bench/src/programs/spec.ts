/** A bench program takes one JSON value as its argument, answers in JSON lines, and ends when its parent is gone. */
export function readSpec<Spec>(): Spec {
  const spec: Spec = JSON.parse(process.argv[2] ?? "null");
  process.stdin.on("end", () => process.exit(0));
  process.stdin.resume();
  return spec;
}

export function answer(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}
