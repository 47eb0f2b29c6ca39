// Third-party programs that the tests start: found on this machine, or unpacked from Debian packages into a separate
// folder. Nothing is installed, so no service is registered or started; deleting the folder removes everything.
import { spawnSync } from "node:child_process";
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { delimiter, join } from "node:path";
import { root } from "./install.mjs";

/** PostgreSQL refuses to run as root, so what root unpacks must be readable by another user. */
const defaultFolder =
  process.getuid?.() === 0 ? "/var/cache/sluice-tests" : join(root, "node_modules", ".cache", "sluice-tests");
export const programsFolder = process.env.TEST_PROGRAMS ?? defaultFolder;
export const commands = join(programsFolder, "bin");
const tree = join(programsFolder, "unpacked");
const downloadMsMax = 300_000;

/** The headless build of Chromium: the same engine, with a fifth less processor time. */
const headlessBrowser = "chromium-headless-shell";

export function ensureRedis() {
  ensureProgram(["redis-server", "valkey-server"], "redis-server", "Redis", "the tests of shared counters");
}

export function ensureBrowser() {
  findUnpacked();
  if (onPath(headlessBrowser)) return;
  const others = ["chromium", "chromium-browser", "google-chrome"];
  if (unpack(headlessBrowser, [headlessBrowser], { refresh: !others.some(onPath) })) return;
  ensureProgram(others, "chromium", "Chromium", "the browser tests");
}

/** nginx, and promtool, which checks Prometheus rules. */
export function ensureProxyAndPromtool() {
  ensureProgram(["nginx"], "nginx", "nginx", "the tests behind a proxy");
  ensureProgram(["promtool"], "prometheus", "promtool", "the tests of alerts");
}

/** Any program of `names` will do; the Debian package contains the first. */
function ensureProgram(names, debian, title, tests) {
  findUnpacked();
  if (names.some(onPath)) return;
  console.error(`Unpacking ${title} for ${tests} …`);
  if (unpack(debian, [names[0]])) return;
  console.error(`No ${title} is installed, and Debian's package could not be unpacked; ${tests} will be skipped.`);
}

/** The unpacked programs and their folder, for the summary at the end of a run; null if there are none. */
export function unpackedPrograms() {
  return existsSync(commands) ? `${readdirSync(commands).join(", ")} in ${programsFolder}` : null;
}

/** Adds the unpacked programs to PATH, after the installed ones. */
function findUnpacked() {
  const folders = (process.env.PATH ?? "").split(delimiter);
  // Debian installs servers here, which is not on every user's PATH.
  const more = ["/usr/sbin", commands].filter((folder) => !folders.includes(folder));
  process.env.PATH = [...folders, ...more].join(delimiter);
}

/**
 * Unpacks a Debian package and the dependencies that this machine lacks, and creates a command for each of its programs. With
 * `refresh`, the package lists are downloaded if the installed lists do not contain the package. Returns true on success.
 */
export function unpack(debian, programs, { refresh = true } = {}) {
  findUnpacked();
  if (!onPath("apt-get") || !onPath("dpkg-deb")) return false;
  mkdirSync(programsFolder, { recursive: true });
  const downloads = mkdtempSync(join(programsFolder, "downloads-"));
  try {
    const done = download(debian, downloads, []) || (refresh && fetchLists() && download(debian, downloads, ownLists));
    if (!done) return false;
    for (const name of readdirSync(downloads)) {
      if (!run("dpkg-deb", ["--extract", join(downloads, name), tree])) return false;
    }
    return programs.every(makeCallable);
  } finally {
    rmSync(downloads, { recursive: true, force: true });
  }
}

function download(debian, folder, options) {
  const quickly = ["-o", "Acquire::http::Timeout=10", "-o", "Acquire::Retries=1", "-o", "APT::Sandbox::User="];
  const apt = (...words) =>
    spawnSync("apt-get", [...options, ...quickly, ...words], {
      cwd: folder,
      stdio: ["ignore", "pipe", words.includes("--simulate") ? "ignore" : "inherit"],
      encoding: "utf8",
      env: { ...process.env, LC_ALL: "C" },
      timeout: downloadMsMax,
    });
  // The simulation prints the packages to install, as "Inst NAME (VERSION …" or "Inst NAME [OLD] (VERSION …".
  const plan = apt("--simulate", "--no-install-recommends", "install", debian);
  if (plan.status !== 0) return false;
  const wanted = [...plan.stdout.matchAll(/^Inst (\S+)(?: \[\S+\])? \((\S+)/gm)].map(
    ([, name, version]) => `${name}=${version}`,
  );
  return wanted.length > 0 && apt("download", ...wanted).status === 0;
}

/** Separate package lists, because the installed ones must not be changed, and containers have none. */
const ownLists = [
  "-o",
  `Dir::State::lists=${join(programsFolder, "lists")}`,
  "-o",
  `Dir::Cache=${join(programsFolder, "cache")}`,
];
let listsFetched = null;

function fetchLists() {
  for (const name of ["lists", "cache"]) mkdirSync(join(programsFolder, name, "partial"), { recursive: true });
  listsFetched ??= run("apt-get", [...ownLists, "-o", "APT::Sandbox::User=", "update"]);
  return listsFetched;
}

/** Creates a script of this name that starts the program with the unpacked libraries and fonts. */
function makeCallable(name) {
  const places = ["usr/lib/chromium", ...versions("usr/lib/postgresql", "bin"), "usr/bin", "usr/sbin"];
  const program = places.map((place) => join(tree, place, name)).find((path) => existsSync(path));
  if (program === undefined) return false;
  const variables = [`LD_LIBRARY_PATH='${libraryFolders().join(":")}'`];
  if (!existsSync("/etc/fonts/fonts.conf")) variables.push(`FONTCONFIG_FILE='${fontSettings()}'`);
  mkdirSync(commands, { recursive: true });
  const written = join(programsFolder, `${name}.${process.pid}`);
  writeFileSync(written, `#!/bin/sh\nexport ${variables.join(" ")}\nexec '${program}' "$@"\n`);
  chmodSync(written, 0o755);
  const works = ["--version", "-v"].some((option) => run(written, [option]));
  if (works) renameSync(written, join(commands, name));
  else rmSync(written);
  return works;
}

/** The folders that the loader searches for libraries, and their subfolders, which some libraries refer to by absolute path. */
function libraryFolders() {
  const folders = ["lib", "usr/lib"].flatMap((place) => versions(place, "")).filter((path) => /-linux-/.test(path));
  return [...folders, ...folders.flatMap((folder) => versions(folder, ""))]
    .map((folder) => join(tree, folder))
    .filter((folder) => statSync(folder).isDirectory() && readdirSync(folder).some((name) => /^lib.*\.so/.test(name)));
}

function versions(place, below) {
  const folder = join(tree, place);
  return existsSync(folder) ? readdirSync(folder).map((name) => join(place, name, below)) : [];
}

/** Maps the generic font names to the fonts that come with Chromium. */
function fontSettings() {
  const file = join(programsFolder, "fonts.conf");
  const folders = ["/usr/share/fonts", join(tree, "usr/share/fonts")].map((folder) => `<dir>${folder}</dir>`);
  const names = [
    ["sans-serif", "DejaVu Sans"],
    ["serif", "DejaVu Serif"],
    ["monospace", "DejaVu Sans Mono"],
  ].map(([name, font]) => `<alias><family>${name}</family><prefer><family>${font}</family></prefer></alias>`);
  writeFileSync(file, `<?xml version="1.0"?>\n<fontconfig>${[...folders, ...names].join("")}</fontconfig>\n`);
  return file;
}

function run(command, words) {
  return spawnSync(command, words, { stdio: "ignore", timeout: downloadMsMax }).status === 0;
}

/** Whether PATH contains a program of this name. */
function onPath(name) {
  return (process.env.PATH ?? "").split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
