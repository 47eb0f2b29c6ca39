/** Coding agent settings as the form edits them: fields without an input stay unchanged. */
export type Settings = Readonly<Record<string, unknown>>;

/** The object in a JSON text. null: it is not an object. */
export function parsedSettings(text: string): Settings | null {
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

export function textOf(settings: Settings | null): string {
  return settings === null ? "" : JSON.stringify(settings, null, 2);
}

/** Sets one field, at most one level deep. `undefined` removes it, and also its parent if that becomes empty. */
export function withMember(settings: Settings, path: readonly [string, string?], value: unknown): Settings {
  const [name, inner] = path;
  const changed = inner === undefined ? value : emptyAsNothing(withMember(objectAt(settings, name), [inner], value));
  if (changed !== undefined) return { ...settings, [name]: changed };
  const { [name]: _gone, ...rest } = settings;
  return rest;
}

export function textAt(settings: Settings, name: string): string {
  const value = settings[name];
  return typeof value === "string" ? value : "";
}

export function textsAt(settings: Settings, name: string): readonly string[] {
  const value = settings[name];
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}

export function objectAt(settings: Settings, name: string): Settings {
  const value = settings[name];
  return isObject(value) ? value : {};
}

/** A list from the form. An empty one is left out. */
export function listOrNothing(lines: readonly string[]): readonly string[] | undefined {
  return lines.length === 0 ? undefined : lines;
}

/** `NAME=value`, one per line; a line without `=` is a name with an empty value. */
export function environmentOf(lines: readonly string[]): Settings | undefined {
  const pairs = lines.map((line): [string, string] => {
    const at = line.indexOf("=");
    return at === -1 ? [line.trim(), ""] : [line.slice(0, at).trim(), line.slice(at + 1)];
  });
  return emptyAsNothing(Object.fromEntries(pairs));
}

export function environmentLines(settings: Settings): readonly string[] {
  return Object.entries(objectAt(settings, "env")).map(([name, value]) => `${name}=${String(value)}`);
}

/** The lines as they are after storing and reading them. */
export function storedEnvironment(lines: readonly string[]): readonly string[] {
  return environmentLines({ env: environmentOf(lines) });
}

const telemetrySwitch = "CLAUDE_CODE_ENABLE_TELEMETRY";

export function sendsTelemetry(settings: Settings): boolean {
  return objectAt(settings, "env")[telemetrySwitch] === "1";
}

/** The variables that make an agent send metrics and logs to the gateway; off removes them. */
export function withTelemetry(settings: Settings, on: boolean, baseUrl: string): Settings {
  const variables: Record<string, string> = {
    [telemetrySwitch]: "1",
    OTEL_METRICS_EXPORTER: "otlp",
    OTEL_LOGS_EXPORTER: "otlp",
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf",
    OTEL_EXPORTER_OTLP_ENDPOINT: baseUrl,
  };
  const rest = Object.entries(objectAt(settings, "env")).filter(([name]) => !(name in variables));
  return withMember(settings, ["env"], emptyAsNothing({ ...Object.fromEntries(rest), ...(on ? variables : {}) }));
}

function emptyAsNothing(value: Settings): Settings | undefined {
  return Object.keys(value).length === 0 ? undefined : value;
}

function isObject(value: unknown): value is Settings {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
