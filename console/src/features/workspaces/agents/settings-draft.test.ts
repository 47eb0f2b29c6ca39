import { expect, test } from "bun:test";
import {
  environmentLines,
  environmentOf,
  parsedSettings,
  sendsTelemetry,
  storedEnvironment,
  withMember,
  withTelemetry,
} from "./settings-draft.ts";

test("the form changes its own members and leaves every other one", () => {
  const before = { hooks: { Stop: [] }, permissions: { deny: ["Read"], defaultMode: "plan" } };
  const changed = withMember(before, ["permissions", "ask"], ["Bash"]);
  expect(changed).toEqual({ ...before, permissions: { ...before.permissions, ask: ["Bash"] } });
  expect(withMember({ permissions: { ask: ["Bash"] }, model: "a" }, ["permissions", "ask"], undefined)).toEqual({
    model: "a",
  });
});

test("the environment has one variable per line, split at the first =", () => {
  const env = environmentOf(["A=1", " B =x=y z", "C"]);
  expect(env).toEqual({ A: "1", B: "x=y z", C: "" });
  expect(environmentLines({ env })).toEqual(["A=1", "B=x=y z", "C="]);
  expect(storedEnvironment(["N", "NAME=v"])).toEqual(["N=", "NAME=v"]);
  expect(environmentOf([])).toBeUndefined();
});

test("turning telemetry on and off keeps other settings", () => {
  const before = { env: { A: "1" } };
  const on = withTelemetry(before, true, "https://gateway.example.com");
  expect([sendsTelemetry(before), sendsTelemetry(on)]).toEqual([false, true]);
  expect((on["env"] as Record<string, string>)["OTEL_EXPORTER_OTLP_ENDPOINT"]).toBe("https://gateway.example.com");
  expect(withTelemetry(on, false, "")).toEqual(before);
  expect(withTelemetry(withTelemetry({}, true, ""), false, "")).toEqual({});
});

test("returns null for a text that is not a JSON object", () => {
  expect(["", "{}", "[]", "null", "{", '{"a":1}'].map(parsedSettings)).toEqual([{}, {}, null, null, null, { a: 1 }]);
});
