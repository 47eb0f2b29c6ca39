// Sets up compose.yaml and compose.small.yaml: writes deploy/.env with the variables that are given, and deploy/secrets/.
//
//   node deploy/make-secrets.mjs SLUICE_ADMIN_EMAIL=you@example.com [SLUICE_PUBLIC_URL=https://ai.example.com …]
//
// Compose reads deploy/.env, so later commands need no variables in the shell. Existing secrets are kept; so are variables that
// are not given again.
import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const home = dirname(fileURLToPath(import.meta.url));
writeVariables(process.argv.slice(2));

const folder = join(home, "secrets");
// Each container gets single files and reads them as another user; on this machine the folder protects them.
mkdirSync(folder, { recursive: true, mode: 0o700 });

const postgres = keepOrCreate("postgres-password", random);
const redis = keepOrCreate("redis-password", random);
keepOrCreate("master-key", random);
keepOrCreate("admin-password", random);
keepOrCreate("database-url", () => `postgres://sluice:${postgres}@postgres:5432/sluice?sslmode=disable`);
keepOrCreate("redis-url", () => `redis://:${redis}@redis:6379`);
console.log(`The variables of this installation are in ${join(home, ".env")}.`);
console.log(
  `Keep a copy of ${join(folder, "master-key")} apart from every backup: without it no key and no provider works.`,
);
console.log(`The first administrator's password is in ${join(folder, "admin-password")}.`);

/** Each word is NAME=value. Values are quoted, so that Compose takes them as they are. */
function writeVariables(words) {
  const file = join(home, ".env");
  const lines = new Map();
  for (const line of existsSync(file) ? readFileSync(file, "utf8").split("\n") : []) {
    if (line !== "") lines.set(/^([A-Z][A-Z0-9_]*)=/.exec(line)?.[1] ?? line, line);
  }
  for (const word of words) {
    const [, name, value] = /^([A-Z][A-Z0-9_]*)=([^'\n]*)$/.exec(word) ?? [];
    if (name === undefined) fail(`"${word}" is not NAME=value, or its value has a quote or a line break.`);
    lines.set(name, `${name}='${value}'`);
  }
  if (!lines.has("SLUICE_ADMIN_EMAIL")) {
    fail(
      "The first administrator's address is missing: node deploy/make-secrets.mjs SLUICE_ADMIN_EMAIL=you@example.com",
    );
  }
  writeFileSync(file, `${[...lines.values()].join("\n")}\n`, { mode: 0o600 });
  chmodSync(file, 0o600);
}

function fail(message) {
  console.error(message);
  process.exit(2);
}

function keepOrCreate(name, make) {
  const file = join(folder, name);
  if (!existsSync(file)) writeFileSync(file, `${make()}\n`, { mode: 0o444, flag: "wx" });
  return readFileSync(file, "utf8").trim();
}

/** 256 bits, in characters that an address can hold. */
function random() {
  return randomBytes(32).toString("base64url");
}
