import { ConfigInvalid, loadConfigFile, problemLine } from "#config/index.ts";
import { configWarnings, kindCheck } from "#main.ts";
import { type Check, type Finding, fail, ok, warn } from "./finding.ts";

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
