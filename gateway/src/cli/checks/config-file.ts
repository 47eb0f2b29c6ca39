import { ConfigInvalid, loadConfigFile } from "#config/index.ts";
import { kindCheck } from "#main.ts";
import { type Check, type Finding, fail, ok, warn } from "./finding.ts";

/** The environment has no mistyped names and the config file is valid. */
export const configFileCheck: Check = async ({ environment, variables }) => {
  const findings: Finding[] = environment.warnings.map((text) => warn("environment", text, "rename or unset it"));
  const file = environment.configFile;
  if (file === null) return [...findings, ok("config file", "none (SLUICE_CONFIG is not set)")];
  try {
    await loadConfigFile(file, variables, [kindCheck]);
    return [...findings, ok("config file", `${file} is valid`)];
  } catch (thrown) {
    if (!(thrown instanceof ConfigInvalid)) throw thrown;
    return [...findings, fail("config file", thrown.message, `run \`sluice check ${file}\` for every problem`)];
  }
};
