import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { ConfigInvalid, loadConfigFile, problemLine } from "#config/index.ts";
import { bounds } from "#core/index.ts";
import { CertificateUnusable, configWarnings, kindCheck, readCertificate } from "#main.ts";
import { type Check, type Finding, fail, ok, warn } from "./finding.ts";

const openFilesWanted = 10_000;
const openFilesLow = 1_024;
/** Nothing of this program is older. */
const earliest = Date.UTC(2026, 0, 1);
const latest = Date.UTC(2100, 0, 1);

/** The clock is plausible, and enough files may be open for the streams of a busy gateway. */
export const machineCheck: Check = async ({ clock }) => [clockFinding(clock.now()), openFiles()];

function clockFinding(now: number): Finding {
  const shown = new Date(now).toISOString();
  if (now >= earliest && now < latest) return ok("clock", shown);
  return warn("clock", `says ${shown}`, "set the clock: keys expire and budgets begin by it");
}

function openFiles(): Finding {
  const text = limitShown();
  const limit = text === "unlimited" ? Number.POSITIVE_INFINITY : Number.parseInt(text, 10);
  if (Number.isNaN(limit)) return warn("open files", "the limit is not known", "check `ulimit -n`");
  const detail = `at most ${text}; every stream needs two`;
  if (limit >= openFilesWanted) return ok("open files", detail);
  const advice = `raise it (ulimit -n ${openFilesWanted}, or LimitNOFILE in a systemd unit)`;
  return limit > openFilesLow ? ok("open files", detail) : warn("open files", detail, advice);
}

/** The shell is asked because the limit it shows is the one that children inherit; an image may have none. */
function limitShown(): string {
  const { stdout } = spawnSync("sh", ["-c", "ulimit -n"], { encoding: "utf8", timeout: 5_000 });
  if (typeof stdout === "string" && stdout.trim() !== "") return stdout.trim();
  try {
    return /^Max open files +(\S+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1] ?? "";
  } catch {
    return "";
  }
}

/** The environment has no mistyped names and the config file is valid. */
export const configFileCheck: Check = async ({ environment, variables, clock }) => {
  const findings: Finding[] = environment.warnings.map((text) => warn("environment", text, "rename or unset it"));
  const file = environment.configFile;
  if (file === null) return [...findings, ok("config file", "none (SLUICE_CONFIG is not set)")];
  try {
    const { warnings } = await loadConfigFile(file, variables, [kindCheck], configWarnings(clock.now()));
    findings.push(ok("config file", `${file} is valid`));
    const advice = "change the file, or leave it if this is meant";
    return [...findings, ...warnings.map((warning) => warn("config file", problemLine(warning), advice))];
  } catch (thrown) {
    if (!(thrown instanceof ConfigInvalid)) throw thrown;
    return [...findings, fail("config file", thrown.message, `run \`sluice check ${file}\` for every problem`)];
  }
};

/** The files that the ports' certificate is read from hold a pair that belongs together and has not ended. */
export const certificateCheck: Check = async ({ environment: { tls }, clock }) => {
  if (tls === null) return [];
  try {
    const { names, endsAt } = await readCertificate(tls);
    const left = endsAt - clock.now();
    const detail = `for ${names.join(", ") || "no name"}, until ${new Date(endsAt).toISOString()}`;
    const remedy = `put another pair into ${tls.certificate} and ${tls.key}; it is taken without a restart`;
    if (left <= 0) return [fail("certificate", `${detail}: it has ended`, remedy)];
    return [left < bounds.certificateSoonMs ? warn("certificate", detail, remedy) : ok("certificate", detail)];
  } catch (thrown) {
    if (!(thrown instanceof CertificateUnusable)) throw thrown;
    return [fail("certificate", thrown.message, "check SLUICE_TLS_CERT_FILE and SLUICE_TLS_KEY_FILE")];
  }
};
