/** Hashing of passwords: argon2id with 64 MiB and two passes, as a PHC string. Runs beside the event loop, not in it. */
export function hashPassword(password: string): Promise<string> {
  return Bun.password.hash(password, { algorithm: "argon2id", memoryCost: memoryKb(), timeCost: 2 });
}

export function passwordMatches(password: string, hash: string): Promise<boolean> {
  return Bun.password.verify(password, hash);
}

/** Tests make people by the dozen: `npm test` names less (test/bundled-threads.ts, scripts/bundles.mjs), and nothing else can. */
declare const passwordKbOfTests: number | undefined;

function memoryKb(): number {
  return typeof passwordKbOfTests === "number" ? passwordKbOfTests : 65_536;
}
