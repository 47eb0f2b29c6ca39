import { expect, test } from "bun:test";
import {
  attributedJson,
  attributedProtobuf,
  isIdentityKey,
  MalformedTelemetry,
} from "../../src/telemetry/otlp/relayed-export.ts";
import { logs, metrics, traces } from "./otlp-shapes.ts";
import { readMessage } from "./protobuf.ts";

const attribution = { "user.id": "usr_1", "user.email": "bob@example.com", "sluice.workspace": "acme" };
const context = { attribution, service: "sluice" };
const shapes = { logs, metrics, traces };

/** A length-delimited field. */
const field = (number: number, ...inside: readonly (Uint8Array | string)[]): Uint8Array => {
  const body = Buffer.concat(inside.map((one) => Buffer.from(one)));
  const length = body.length < 128 ? [body.length] : [(body.length & 127) | 128, body.length >> 7];
  return Buffer.concat([Uint8Array.from([number * 8 + 2, ...length]), body]);
};
const pair = (number: number, key: string, value: string) => field(number, field(1, key), field(2, field(1, value)));

/** A log record with a forged identity in every possible place. */
const forged = {
  logs: field(
    1,
    field(
      1,
      pair(1, "service.name", "claude-code"),
      pair(1, "user.email", "eve@example.com"),
      pair(1, "user_name", "eve@"),
    ),
    field(
      2,
      field(2, pair(6, "user.email", "eve@example.com"), pair(6, "event.name", "x"), pair(6, "User-Account", "y")),
    ),
  ),
  traces: field(1, field(2, field(2, pair(9, "user.id", "usr_eve"), pair(9, "tool", "Bash")))),
  metrics: field(
    1,
    field(1, pair(1, "sluice.workspace", "other")),
    field(2, field(2, field(1, "cost"), field(7, field(1, pair(7, "user.id", "usr_eve"), pair(7, "model", "m"))))),
  ),
} as const;

const attributed = (signal: keyof typeof forged) =>
  JSON.stringify(readMessage(attributedProtobuf(forged[signal], signal, context), shapes[signal]));

test.each(["logs", "traces", "metrics"] as const)(
  "%s of an agent carry the identity of its key, not their own",
  (signal) => {
    const text = attributed(signal);
    for (const word of ["usr_eve", "eve@", "other", "user_name", "User-Account"]) expect(text).not.toContain(word);
    for (const word of Object.values(attribution)) expect(text).toContain(word);
    expect(text.split('"sluice.workspace"')).toHaveLength(2);
  },
);

test("keeps other attributes and replaces identity attributes of records", () => {
  expect(attributed("logs")).toContain(
    '{"key":"user.email","value":{"stringValue":"bob@example.com"}},{"key":"event.name"',
  );
  expect(attributed("traces")).toContain('"key":"tool"');
  expect(attributed("metrics")).toContain('"key":"model"');
});

test("two concatenated protobuf requests are one request", () => {
  const both = Buffer.concat([
    attributedProtobuf(forged.logs, "logs", context),
    attributedProtobuf(forged.logs, "logs", { ...context, attribution: { "user.id": "usr_2" } }),
  ]);
  expect((readMessage(both, logs) as { resourceLogs: unknown[] }).resourceLogs).toHaveLength(2);
});

test.each([
  ["a field that ends after its message", Uint8Array.from([10, 5, 10])],
  ["an attribute that ends after its resource", Uint8Array.from([10, 4, 10, 2, 10, 9, 1, 1])],
  ["a group, which OTLP does not have", Uint8Array.from([11, 12])],
  ["a number without an end", new Uint8Array(20).fill(255)],
  ["two resources, of which some parsers read the last", field(1, field(1), field(1, pair(1, "user.id", "eve")))],
  ["too many resources", new Uint8Array(200_000).map((_, n) => (n % 2 ? 0 : 10))],
  ["too many fields", new Uint8Array(200_000).map((_, n) => (n % 2 ? 0 : 8))],
])("rejects %s", (_what, bytes) => {
  expect(() => attributedProtobuf(bytes, "traces", context)).toThrow(MalformedTelemetry);
});

test("treats JSON the same; drops members that OTLP does not define", () => {
  const sent = {
    resource_logs: [{ resource: { attributes: [{ key: "user.id", value: { stringValue: "usr_eve" } }] } }],
    resourceLogs: [
      {
        resource: { attributes: [{ key: "user.email", value: { stringValue: "eve@example.com" } }] },
        Resource: { attributes: [] },
        scopeLogs: [
          {
            logRecords: [
              {
                attributes: [
                  { key: "user.id", value: { stringValue: "eve" } },
                  { key: "a", value: {} },
                ],
              },
            ],
          },
        ],
      },
    ],
  };
  const bytes = attributedJson(new TextEncoder().encode(JSON.stringify(sent)), "logs", context);
  const attributes = Object.entries(attribution).map(([key, value]) => ({ key, value: { stringValue: value } }));
  expect(JSON.parse(new TextDecoder().decode(bytes))).toEqual({
    resourceLogs: [
      {
        resource: { attributes },
        scopeLogs: [{ logRecords: [{ attributes: [attributes[0], { key: "a", value: {} }] }] }],
      },
    ],
  });
  const deep = `{"resourceLogs":[{"scopeLogs":${"[".repeat(100)}${"]".repeat(100)}}]}`;
  for (const junk of ["junk", "[1", deep]) {
    expect(() => attributedJson(new TextEncoder().encode(junk), "logs", context)).toThrow(MalformedTelemetry);
  }
});

test("recognizes identity names in any spelling", () => {
  expect(
    [
      "user.id",
      "User.Email",
      "user_id",
      "enduser.id",
      "USER",
      "sluice.x",
      "identity-source",
      "_user_id",
      "\uff55ser.id",
      "\u0131dentity.x",
      "\u017fluice.workspace",
      "us\u0301er.id",
    ].every(isIdentityKey),
  ).toBe(true);
  expect(["service.name", "username", "session.id", "model", "", "users"].some(isIdentityKey)).toBe(false);
});

test("removes identity attributes from structured bodies at any depth, in protobuf and JSON", () => {
  const inner = field(6, pair(1, "User.Email", "eve@example.com"), pair(1, "deep", "stays"));
  const list = field(5, field(1, inner));
  const record = field(
    2,
    field(5, field(6, pair(1, "user.id", "usr_eve"), field(1, field(1, "args"), field(2, list)))),
  );
  const binary = attributedProtobuf(field(1, field(2, record)), "logs", context);
  const text = Buffer.from(binary).toString("latin1");
  expect(text).toContain("stays");
  const asJson = {
    resourceLogs: [
      {
        scopeLogs: [
          {
            logRecords: [
              {
                body: {
                  kvlistValue: {
                    values: [
                      { key: "user.id", value: { stringValue: "usr_eve" } },
                      {
                        key: "args",
                        value: {
                          arrayValue: {
                            values: [
                              {
                                kvlistValue: {
                                  values: [
                                    { key: "User.Email", value: { stringValue: "eve@example.com" } },
                                    { key: "deep", value: { stringValue: "stays" } },
                                  ],
                                },
                              },
                            ],
                          },
                        },
                      },
                    ],
                  },
                },
              },
            ],
          },
        ],
      },
    ],
  };
  const json = new TextDecoder().decode(attributedJson(Buffer.from(JSON.stringify(asJson)), "logs", context));
  expect(json).toContain("stays");
  for (const written of [text, json]) {
    expect(written).toContain("usr_1");
    for (const word of ["usr_eve", "eve@", "User.Email"]) expect(written).not.toContain(word);
  }
});

test("drops the gateway's service name and metrics named like the gateway's", () => {
  const resource = field(1, pair(1, "service.name", "Sluice"), pair(1, "host.name", "laptop"));
  const records = field(
    2,
    field(2, field(1, "sluice.cost"), field(7)),
    field(2, field(1, "claude_code.cost"), field(7)),
  );
  const binary = Buffer.from(attributedProtobuf(field(1, resource, records), "metrics", context)).toString("latin1");
  const attribute = (key: string, stringValue: string) => ({ key, value: { stringValue } });
  const asJson = {
    resourceMetrics: [
      {
        resource: { attributes: [attribute("service.name", "Sluice"), attribute("host.name", "laptop")] },
        scopeMetrics: [{ metrics: [{ name: "sluice_cost" }, { name: "claude_code.cost" }] }],
      },
    ],
  };
  const json = new TextDecoder().decode(attributedJson(Buffer.from(JSON.stringify(asJson)), "metrics", context));
  for (const written of [binary, json]) {
    expect(written).toContain("laptop");
    expect(written).toContain("claude_code.cost");
    expect(written).not.toMatch(/Sluice|sluice[._]cost/);
  }
});
