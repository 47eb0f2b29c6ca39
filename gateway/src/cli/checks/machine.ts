import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { ConfigInvalid, loadConfigFile, problemLine } from "#config/index.ts";
import { bounds } from "#core/index.ts";
import { CertificateUnusable, configWarnings, kindCheck, readCertificate } from "#main.ts";
import { type Check, type Finding, fail, ok, warn } from "./finding.ts";

const openFilesWanted = 10_000;
const openFilesLow = 1_024;
/** Earlier times are certainly wrong. */
const earliest = Date.UTC(2026, 0, 1);
const latest = Date.UTC(2100, 0, 1);

/** Checks the clock and the limit of open files. */
export const machineCheck: Check = async ({ clock }) => [clockFinding(clock.now()), openFiles()];

function clockFinding(now: number): Finding {
  const shown = new Date(now).toISOString();
  if (now >= earliest && now < latest) return ok("clock", shown);
  return warn("clock", `is at ${shown}`, "set the clock: expiry of keys and budgets depend on it");
}

function openFiles(): Finding {
  const text = limitShown();
  const limit = text === "unlimited" ? Number.POSITIVE_INFINITY : Number.parseInt(text, 10);
  if (Number.isNaN(limit)) return warn("open files", "the limit is unknown", "check `ulimit -n`");
  const detail = `at most ${text}; each stream needs two`;
  if (limit >= openFilesWanted) return ok("open files", detail);
  const advice = `raise it (ulimit -n ${openFilesWanted}, or LimitNOFILE in a systemd unit)`;
  return limit > openFilesLow ? ok("open files", detail) : warn("open files", detail, advice);
}

/** Asks the shell, because that limit is inherited by child processes. Some images have no shell. */
function limitShown(): string {
  const { stdout } = spawnSync("sh", ["-c", "ulimit -n"], { encoding: "utf8", timeout: 5_000 });
  if (typeof stdout === "string" && stdout.trim() !== "") return stdout.trim();
  try {
    return /^Max open files +(\S+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1] ?? "";
  } catch {
    return "";
  }
}

/** Checks names of environment variables and the config file. */
export const configFileCheck: Check = async ({ environment, variables, clock }) => {
  const findings: Finding[] = environment.warnings.map((text) => warn("environment", text, "rename or unset it"));
  const file = environment.configFile;
  if (file === null) return [...findings, ok("config file", "none (SLUICE_CONFIG is not set)")];
  try {
    const { warnings } = await loadConfigFile(file, variables, [kindCheck], configWarnings(clock.now()));
    findings.push(ok("config file", `${file} is valid`));
    const advice = "change the file, or ignore this if it is intended";
    return [...findings, ...warnings.map((warning) => warn("config file", problemLine(warning), advice))];
  } catch (thrown) {
    if (!(thrown instanceof ConfigInvalid)) throw thrown;
    return [...findings, fail("config file", thrown.message, `run \`sluice check ${file}\` for every problem`)];
  }
};

/** Checks that certificate and key belong together and are not expired. */
export const certificateCheck: Check = async ({ environment: { tls }, clock }) => {
  if (tls === null) return [];
  try {
    const { names, endsAt } = await readCertificate(tls);
    const left = endsAt - clock.now();
    const detail = `for ${names.join(", ") || "no name"}, until ${new Date(endsAt).toISOString()}`;
    const remedy = `write a new pair to ${tls.certificate} and ${tls.key}; no restart is needed`;
    if (left <= 0) return [fail("certificate", `${detail}: expired`, remedy)];
    return [left < bounds.certificateSoonMs ? warn("certificate", detail, remedy) : ok("certificate", detail)];
  } catch (thrown) {
    if (!(thrown instanceof CertificateUnusable)) throw thrown;
    return [fail("certificate", thrown.message, "check SLUICE_TLS_CERT_FILE and SLUICE_TLS_KEY_FILE")];
  }
};
