import type { Variables } from "#config/index.ts";

/** The certificate authorities that a gateway's certificate may be from, with those of SLUICE_CA; undefined: the runtime's alone. */
export async function believedAuthorities(variables: Variables): Promise<readonly string[] | undefined> {
  // Agents ask for a token each time they start: nothing more is loaded for those who name none.
  if ((variables["SLUICE_CA"] ?? "") === "" && (variables["SLUICE_CA_FILE"] ?? "") === "") return undefined;
  const [{ environmentOf }, { believedBeside }] = await Promise.all([
    import("../open.ts"),
    import("#upstream/index.ts"),
  ]);
  const { authorities } = await environmentOf(variables);
  return authorities.length === 0 ? undefined : believedBeside(authorities);
}
