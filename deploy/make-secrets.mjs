// Makes deploy/secrets/: what compose.yaml and compose.small.yaml hand to their containers. What is there stays as it is.
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = join(dirname(fileURLToPath(import.meta.url)), "secrets");
// Containers are handed each file alone and read it as users of their own; on this machine the folder keeps others out.
mkdirSync(folder, { recursive: true, mode: 0o700 });

const postgres = kept("postgres-password", random);
const redis = kept("redis-password", random);
kept("master-key", random);
kept("admin-password", random);
kept("database-url", () => `postgres://sluice:${postgres}@postgres:5432/sluice?sslmode=disable`);
kept("redis-url", () => `redis://:${redis}@redis:6379`);
console.log(
  `Keep a copy of ${join(folder, "master-key")} apart from every backup: without it no key and no provider works.`,
);
console.log(`The first administrator's password is in ${join(folder, "admin-password")}.`);

function kept(name, make) {
  const file = join(folder, name);
  if (!existsSync(file)) writeFileSync(file, `${make()}\n`, { mode: 0o444, flag: "wx" });
  return readFileSync(file, "utf8").trim();
}

/** 256 bits, in characters that an address can hold. */
function random() {
  return randomBytes(32).toString("base64url");
}
