import { type Environment, type ProviderVariables, readEnvironment, type Variables } from "#config/index.ts";
import { type Control, openControl } from "#main.ts";
import { providerKinds } from "#providers/index.ts";

/** The environment with the keys of every kind of provider that is found by a variable. */
export function environmentOf(variables: Variables): Environment {
  return readEnvironment(variables, providerVariables());
}

/** Opens the data directory for one command, beside a running gateway or without one, and closes it again. */
export async function withControl<T>(variables: Variables, act: (control: Control) => Promise<T>): Promise<T> {
  const control = await openControl(environmentOf(variables));
  try {
    return await act(control);
  } finally {
    await control.close();
  }
}

/** Who made a change, as the audit log says it. */
export const actor = "command line";

function providerVariables(): readonly ProviderVariables[] {
  return providerKinds.flatMap(({ id, envKey, envBaseUrl }) =>
    envKey === null ? [] : [{ kind: id, envKey, envBaseUrl }],
  );
}
