import type { SettingIsShown } from "./redacted-source.ts";

/** What may be shown of a config file. Its parser is loaded when somebody looks. */
export async function redactedSource(text: string, settingIsShown: SettingIsShown): Promise<string | null> {
  const parser = await import("./redacted-source.ts");
  return parser.redactedSource(text, settingIsShown);
}
