import { hostname, userInfo } from "node:os";
import {
  type Environment,
  type ProviderVariables,
  processVariables,
  readEnvironment,
  secretNames,
  type Variables,
  withFiles,
} from "#config/index.ts";
import type { Control } from "#main.ts";
import type { AuditSource } from "#ports/index.ts";

/** The environment with the keys of every kind of provider that is found by a variable. Secrets may be in files. */
export async function environmentOf(variables: Variables): Promise<Environment> {
  const ofVendors = await providerVariables();
  const names = [...secretNames, ...ofVendors.map(({ envKey }) => envKey)];
  return readEnvironment(await withFiles(variables, names), ofVendors);
}

/** Opens the data directory for one command, beside a running gateway or without one, and closes it again. */
export async function withControl<T>(variables: Variables, act: (control: Control) => Promise<T>): Promise<T> {
  const environment = await environmentOf(variables);
  const { openControl } = await import("#main.ts");
  const control = await openControl(environment);
  try {
    return await act(control);
  } finally {
    await control.close();
  }
}

/** Who made a change, as the audit log says it. */
export const auditSource: AuditSource = {
  get actor() {
    return `command line (${systemUser()}@${hostname()})`;
  },
  ip: null,
};

/** Whoever started the command, also through sudo. */
function systemUser(): string {
  const behind =
    processVariables()
      ["SUDO_USER"]?.replaceAll(/[^\w.@\\-]/g, "")
      .slice(0, 64) ?? "";
  const own = ownName();
  return behind === "" || behind === own ? own : `${behind} as ${own}`;
}

/** Containers run as ids that have no name. */
function ownName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
}

async function providerVariables(): Promise<readonly ProviderVariables[]> {
  const { providerKinds } = await import("#providers/index.ts");
  return providerKinds.flatMap(({ id, envKey, envBaseUrl }) =>
    envKey === null ? [] : [{ kind: id, envKey, envBaseUrl }],
  );
}
