/** Bench programs get one JSON value as their argument, print JSON lines, and exit when their parent has ended. */
export function readSpec<Spec>(): Spec {
  const spec: Spec = JSON.parse(process.argv[2] ?? "null");
  process.stdin.on("end", () => process.exit(0));
  process.stdin.resume();
  return spec;
}

export function answer(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}
