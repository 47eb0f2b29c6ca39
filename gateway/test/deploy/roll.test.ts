import { expect, test } from "bun:test";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deploy, documentsOf, durationMs, textOf } from "./deploy-files.ts";

const [compose] = documentsOf("compose.yaml");
const gateways = Object.keys(compose.services).filter((name) => name.startsWith("gateway-"));

test("a reload of nginx keeps callers' connections open as long as nginx does", () => {
  const [callers = ""] = textOf("nginx.conf").split("upstream sluice {");
  const durationOf = (name: string) => durationMs(new RegExp(`^\\s*${name} (\\w+);`, "m").exec(callers)?.[1] ?? "");
  expect(durationOf("keepalive_timeout")).toBeGreaterThan(0);
  expect(durationOf("keepalive_min_timeout")).toBeGreaterThanOrEqual(durationOf("keepalive_timeout"));
});

test("compose uses an nginx with keepalive_min_timeout", () => {
  const version = /:-.*nginx[^:]*:(\d+\.\d+(?:\.\d+)?)[^}]*\}$/.exec(compose.services.nginx.image)?.[1] ?? "0";
  const whole = version.split(".").length === 3 ? version : `${version}.0`;
  expect(Bun.semver.order(whole, "1.27.4"), compose.services.nginx.image).toBeGreaterThanOrEqual(0);
  expect(textOf("nginx.conf")).toContain("Needs nginx 1.27.4.");
});

/** Compose reads deploy/.env next to the given file, so the script changes to deploy/ first. */
test("roll.sh removes one gateway from nginx, restarts it, waits for it, and adds it before the next", () => {
  const { exitCode, done } = roll();
  expect(done).toEqual([
    ...gateways.flatMap((name) => [
      `reload without ${name}`,
      `compose -f compose.yaml up --detach --no-deps --wait --force-recreate ${name}`,
    ]),
    "reload without nobody",
  ]);
  expect(exitCode).toBe(0);
});

test("roll.sh stops at a gateway that does not become ready, and adds it again", () => {
  const { exitCode, done } = roll("gateway-2");
  expect(exitCode).not.toBe(0);
  expect(done.at(-1)).toBe("reload without nobody");
  expect(done.filter((line) => line.includes("gateway-3"))).toEqual([]);
});

test("roll.sh restarts no gateway while nginx rejects its configuration", () => {
  const { exitCode, done } = roll("nginx");
  expect(exitCode).not.toBe(0);
  expect(done).toEqual([]);
});

/** Runs the script with a fake `docker`, which runs nginx commands here on deploy/nginx.conf and records the others. */
function roll(broken = ""): { readonly exitCode: number; readonly done: readonly string[] } {
  const folder = mkdtempSync(join(tmpdir(), "sluice-roll-"));
  try {
    for (const name of ["roll.sh", "compose.yaml", "nginx.conf"]) cpSync(join(deploy, name), join(folder, name));
    mkdirSync(join(folder, "bin"));
    program(
      "docker",
      `test -f compose.yaml || exit 9
case "$*" in
  *" exec "*)
    test "$*" = "compose -f compose.yaml exec -T nginx sh -c $9" || exit 9
    sh -c "$(printf %s "$9" | sed 's#/etc/nginx/sluice.conf#${folder}/nginx.conf#g; s#/tmp/nginx.conf#${folder}/running.conf#g')" ;;
  *) echo "$*" >> ${folder}/done; case "$*" in *" ${broken}") exit 1 ;; esac ;;
esac`,
    );
    program(
      "nginx",
      `test "${broken}" != nginx || exit 1
test "$2" = ${folder}/running.conf || exit 9
case "$*" in *"-s reload") ;; *) exit 0 ;; esac
out=$(sed -n 's/^ *server \\(gateway-[0-9]*\\):8787 resolve down;$/\\1/p' "$2" | tr '\\n' ' ')
echo "reload without \${out:-nobody}" | sed 's/ *$//' >> ${folder}/done`,
    );
    const path = `${join(folder, "bin")}:${process.env["PATH"]}`;
    const { exitCode } = Bun.spawnSync(["sh", join(folder, "roll.sh")], {
      cwd: tmpdir(),
      env: { PATH: path },
      stderr: "ignore",
    });
    const done = Bun.file(join(folder, "done"));
    return { exitCode, done: done.size === 0 ? [] : readFileSync(join(folder, "done"), "utf8").trim().split("\n") };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }

  function program(name: string, script: string): void {
    const file = join(folder, "bin", name);
    writeFileSync(file, `#!/bin/sh\n${script}\n`);
    chmodSync(file, 0o755);
  }
}
