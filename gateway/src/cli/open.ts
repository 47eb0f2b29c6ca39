import { existsSync } from "node:fs";
import { hostname, userInfo } from "node:os";
import {
  type Environment,
  processVariables,
  readEnvironment,
  secretNames,
  type Variables,
  withFiles,
} from "#config/index.ts";
import type { Control } from "#main.ts";
import type { AuditSource } from "#ports/index.ts";
import { CommandFailed } from "./terminal.ts";

/** The environment with the API keys of all provider kinds. Secrets may be in files. */
export async function environmentOf(variables: Variables): Promise<Environment> {
  const { providerKinds } = await import("#providers/index.ts");
  const ofVendors = providerKinds.flatMap(({ id, envKey, envBaseUrl }) =>
    envKey === null ? [] : [{ kind: id, envKey, envBaseUrl }],
  );
  const names = [...secretNames, ...ofVendors.map(({ envKey }) => envKey)];
  return readEnvironment(await withFiles(variables, names), ofVendors);
}

/**
 * Opens the data directory for one command and closes it. Without `create` it must exist, so that a command in the wrong folder does
 * not create an installation and report success.
 */
export async function withControl<T>(
  variables: Variables,
  act: (control: Control) => Promise<T>,
  { create }: { readonly create: boolean } = { create: false },
): Promise<T> {
  const environment = await environmentOf(variables);
  if (!create && environment.databaseUrl === null) {
    const { dataPaths } = await import("#storage/index.ts");
    const { database, dataDir } = dataPaths(environment.dataDir);
    if (!existsSync(database)) {
      throw new CommandFailed(
        `There is no database in ${dataDir}. Set SLUICE_DATA_DIR to the data directory of the installation; \`sluice serve\` creates one.`,
      );
    }
  }
  const { openControl } = await import("#main.ts");
  const control = await openControl(environment);
  try {
    return await act(control);
  } finally {
    await control.close();
  }
}

/** Actor in the audit log. */
export const auditSource: AuditSource = {
  get actor() {
    return `command line (${systemUser()}@${hostname()})`;
  },
  ip: null,
};

/** Also through sudo. */
function systemUser(): string {
  const behind =
    processVariables()
      ["SUDO_USER"]?.replaceAll(/[^\w.@\\-]/g, "")
      .slice(0, 64) ?? "";
  const own = ownName();
  return behind === "" || behind === own ? own : `${behind} as ${own}`;
}

/** User ids of containers may have no name. */
function ownName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
}
