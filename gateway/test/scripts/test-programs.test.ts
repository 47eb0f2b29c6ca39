import { expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const scripts = join(import.meta.dir, "../../../scripts");

test("npm test unpacks a missing program into its own folder, installs nothing, and prints what it unpacked", () => {
  const folder = mkdtempSync(join(tmpdir(), "sluice-programs-"));
  try {
    const { stdout } = runOn(folder, {
      // A fake apt-get: the simulation names a package and a library, and the download leaves a file for each.
      "apt-get": `
        case "$*" in
          *--simulate*) echo "Inst promtool (2.1 Debian:12 [amd64])"; echo "Inst libprom [1.0] (1.1 Debian:12 [amd64])" ;;
          *download*) for name in promtool=2.1 libprom=1.1; do case "$*" in *"$name"*) : > "$name.deb" ;; *) exit 1 ;; esac; done ;;
          *) exit 1 ;;
        esac`,
      // A fake dpkg-deb: each package contains a file or two.
      "dpkg-deb": `
        mkdir -p "$3/usr/bin" "$3/usr/lib/x86_64-linux-gnu"
        case "$2" in
          *promtool*) printf '#!/bin/sh\\necho "libraries: $LD_LIBRARY_PATH"\\n' > "$3/usr/bin/promtool"; chmod +x "$3/usr/bin/promtool" ;;
          *) : > "$3/usr/lib/x86_64-linux-gnu/libprom.so.1" ;;
        esac`,
      nginx: "exit 0",
    });
    const programs = join(folder, "programs");
    expect(stdout).toBe(`promtool in ${programs}\n`);
    const started = Bun.spawnSync([join(programs, "bin", "promtool")]).stdout.toString();
    expect(started).toBe(`libraries: ${join(programs, "unpacked/usr/lib/x86_64-linux-gnu")}\n`);
    const commands = readFileSync(join(folder, "asked"), "utf8").trim().split("\n");
    expect(commands.map((line) => line.split(" ")[0])).toEqual(["apt-get", "apt-get", "dpkg-deb", "dpkg-deb"]);
    // Changes to the machine are only simulated.
    for (const line of commands) expect(line).toMatch(/ --simulate .* install | download |--extract /);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("npm test uses an installed program and prints nothing about it", () => {
  const folder = mkdtempSync(join(tmpdir(), "sluice-programs-"));
  try {
    const { stdout } = runOn(folder, { "apt-get": "exit 1", nginx: "exit 0", promtool: "exit 0" });
    expect(stdout).toBe("null\n");
    expect(() => readFileSync(join(folder, "asked"))).toThrow();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

/** Searches for nginx and promtool on a machine with only these programs; each records its arguments. */
function runOn(folder: string, machine: Readonly<Record<string, string>>): { stdout: string } {
  const path = join(folder, "machine");
  mkdirSync(path);
  for (const [name, body] of Object.entries(machine)) {
    writeFileSync(
      join(path, name),
      `#!/bin/sh\nPATH=/usr/bin:/bin\necho "${name} $*" >> '${join(folder, "asked")}'\n${body}\n`,
    );
    chmodSync(join(path, name), 0o755);
  }
  const program = `const { ensureProxyAndPromtool, unpackedPrograms } = await import(${JSON.stringify(pathToFileURL(join(scripts, "test-programs.mjs")).href)});
    ensureProxyAndPromtool(); console.log(unpackedPrograms());`;
  const { stdout } = Bun.spawnSync([process.execPath, "--no-env-file", "-e", program], {
    env: { PATH: path, TEST_PROGRAMS: join(folder, "programs") },
  });
  return { stdout: stdout.toString() };
}
