import { describe, expect, test } from "bun:test";
import type { LocatingCheck } from "#core/index.ts";
import { writers } from "../../../test/guardrails/sample-texts.ts";
import { createDetector, filterOf } from "./index.ts";

const check: LocatingCheck = { kind: "credentials" };
const detector = createDetector(check);
const filter = filterOf([check]);
/** The filter must not exclude a text with findings, however it is escaped. */
const found = (text: string): readonly string[] => {
  const findings = detector.find(text).map(({ start, end, type }) => `${type} ${text.slice(start, end)}`);
  for (const write of findings.length === 0 ? [] : writers) {
    const bytes = Buffer.from(write(text));
    expect(filter?.(bytes, 0, bytes.length, 1)).toBe(true);
  }
  return findings;
};

/** Made up when the test runs, so that scanners of repositories find nothing here. */
const random = (length: number, alphabet = "aB3dE5fG7hJ9kL2mN4pQ6rS8tU0vWxYz"): string =>
  Array.from({ length }, (_, index) => alphabet[(index * 7 + Math.floor(index / 5)) % alphabet.length]).join("");
const hex = (length: number): string => random(length, "0a1b2c3d4e5f6789");
const upper = (length: number): string => random(length, "A2B3C4D5E6F7GHIJ");
const pem = (kind: string, lines = 4): string =>
  [`-----BEGIN ${kind}-----`, ...Array.from({ length: lines }, () => random(64)), `-----END ${kind}-----`].join("\n");

test.each([
  ["aws_access_key", `AKIA${upper(16)}`],
  ["aws_access_key", `ASIA${upper(16)}`],
  ["google_api_key", `AIza${random(35)}`],
  ["google_oauth_token", `ya29.${random(60)}`],
  ["anthropic_key", `sk-ant-api03-${random(93)}`],
  ["anthropic_key", `sk-ant-admin01-${random(93)}`],
  ["openai_key", `sk-${random(48)}`],
  ["openai_key", `sk-proj-${random(60)}_${random(60)}`],
  ["openai_key", `sk-svcacct-${random(60)}`],
  ["openrouter_key", `sk-or-v1-${hex(64)}`],
  ["sluice_key", `sk-sluice-${random(49)}`],
  ["github_token", `ghp_${random(36)}`],
  ["github_token", `gho_${random(36)}`],
  ["github_token", `ghs_${random(36)}`],
  ["github_token", `github_pat_${random(22)}_${random(59)}`],
  ["gitlab_token", `glpat-${random(20)}`],
  ["gitlab_token", `glpat-${random(40)}.01.${random(9)}`],
  ["slack_token", `xoxb-123456789012-1234567890123-${random(24)}`],
  ["slack_webhook", `hooks.slack.com/services/T01ABCDEF/B01ABCDEF/${random(24)}`],
  ["stripe_key", `sk_live_${random(24)}`],
  ["stripe_key", `whsec_${random(32)}`],
  ["npm_token", `npm_${random(36)}`],
  ["pypi_token", `pypi-AgEIcHlwaS5vcmc${random(60)}`],
  ["huggingface_token", `hf_${random(34)}`],
  ["xai_key", `xai-${random(80)}`],
  ["groq_key", `gsk_${random(52)}`],
  ["sendgrid_key", `SG.${random(22)}.${random(43)}`],
  ["twilio_key", `SK${hex(32)}`],
  ["telegram_token", `123456789:AA${random(33)}`],
  ["notion_token", `ntn_${random(46)}`],
  ["onepassword_token", `ops_eyJ${random(200)}`],
  ["onepassword_key", `A3-${upper(6)}-${upper(6)}-${upper(5)}-${upper(5)}-${upper(5)}-${upper(5)}`],
  ["shopify_token", `shpat_${hex(32)}`],
  ["docker_token", `dckr_pat_${random(27)}`],
  ["linear_key", `lin_api_${random(40)}`],
  ["databricks_token", `dapi${hex(32)}-2`],
  ["figma_token", `figd_${random(40)}`],
  ["vault_token", `hvs.${random(90)}`],
  ["grafana_token", `glsa_${random(32)}_${hex(8)}`],
  ["age_key", `AGE-SECRET-KEY-1${upper(58)}`],
  ["jwt", `eyJ${random(30)}.eyJ${random(80)}.${random(43)}`],
  ["private_key", pem("RSA PRIVATE KEY")],
  ["private_key", pem("PRIVATE KEY", 1)],
  ["private_key", pem("PGP PRIVATE KEY BLOCK")],
  ["private_key", pem("EC PRIVATE KEY").replace("\n", "\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A1B\n\n")],
  ["private_key", JSON.stringify(pem("PRIVATE KEY")).slice(1, -1)],
])("finds %s in prose, in Chinese, in code and at the end of a sentence", (type, value) => {
  expect(found(value)).toEqual([`${type} ${value}`]);
  expect(found(`Please use ${value}, it works.`)).toEqual([`${type} ${value}`]);
  expect(found(`密钥是${value}，请保密。`)).toEqual([`${type} ${value}`]);
  expect(found(`call("${value}")`)).toEqual([`${type} ${value}`]);
  expect(found(`The key is ${value}\nBye.`)).toEqual([`${type} ${value}`]);
});

test.each([
  [`Authorization: Bearer ${random(40)}`, `secret ${random(40)}`],
  [`curl -H 'bearer ${random(40)}'`, `bearer_token ${random(40)}`],
  ["postgres://app:s3cr3t-x@db.internal:5432/app", "url_password s3cr3t-x"],
  ["redis://:s3cr3t-x@cache:6379", "url_password s3cr3t-x"],
  ['password = "hunter2!x"', "password hunter2!x"],
  ["PASSWORD=hunter2x", "password hunter2x"],
  ["password: hunter2x.", "password hunter2x"],
  ["**Password:** hunter2x", "password hunter2x"],
  ["密码：hunter2x", "password hunter2x"],
  ["Server=db;User=app;Pwd=hunter2x;", "password hunter2x"],
  [`"api_key": "${random(32)}"`, `secret ${random(32)}`],
  [`{\\"client_secret\\": \\"${random(32)}\\"}`, `secret ${random(32)}`],
  [`env["API_KEY"] = "${random(32)}"`, `secret ${random(32)}`],
  [`aws_secret_access_key = ${random(20)}/${random(19)}`, `secret ${random(20)}/${random(19)}`],
  [`AccountName=a;AccountKey=${random(86)}==;EndpointSuffix=x`, `secret ${random(86)}==`],
])("finds the value next to its name: %s", (text, expected) => {
  expect(found(text)).toEqual([expected]);
});

test("masks and full-width signs and invisible characters do not hide a value", () => {
  const key = `ghp_${random(36)}`;
  const hidden = [
    `${key.slice(0, 9)}\u200b${key.slice(9)}`,
    key.replace("g", "ｇ").replace("_", "＿"),
    `gh\u00adp${key.slice(3)}`,
  ];
  for (const written of hidden) expect(found(`see ${written} now`)).toEqual([`github_token ${written}`]);
});

test("a comment for another scanner does not disable the check", () => {
  expect(found(`// secretlint-disable\nghp_${random(36)} // gitleaks:allow`)).toHaveLength(1);
});

test.each([
  "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
  "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
  "sk-folding-cube-container-with-many-parts",
  'password = "your-password-1"',
  'password: "Password"',
  'password = "$'.concat('{DB_PASSWORD_1}"'),
  "password = form.password2;",
  "password: z.string().min(8)",
  "password=$PASSWORD1",
  "api_key: process.env.OPENAI_API_KEY_2",
  "max_tokens: 4096",
  "if (token === secretToken1234567890) {",
  'secret: "projects/main-2/secrets/database-password/versions/3"',
  "postgres://user:password@localhost/db",
  "http://localhost:8080/a@b",
  "bearer token-based-authentication",
  "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
  "-----BEGIN PRIVATE KEY----- is the first line of such a file, and nothing else",
  "-----BEGIN CERTIFICATE-----\nMIIC\n-----END CERTIFICATE-----",
  "xAKIAABCDEFGHIJKLMNOP",
])("does not find examples, names and code: %s", (text) => {
  expect(found(text)).toEqual([]);
});

describe("a stream", () => {
  test.each([
    ["Hello world, this is prose", 26],
    ["The key is sk-ant-", 11],
    ["The key is s", 11],
    ["今天天气很好", 6],
    [`x -----BEGIN RSA PRIVATE KEY-----\n${random(64)}\n`, 2],
    [`x eyJ${random(3000)}`, 2],
  ])("holds back only what may become a credential: %s", (text, pending) => {
    expect(detector.pendingFrom(text)).toBe(pending);
  });

  test("holds back at most 17 KiB, and counts what is longer as found", () => {
    const key = `-----BEGIN PRIVATE KEY-----\n${`${random(64)}\n`.repeat(300)}`;
    expect(detector.pendingFrom(key)).toBeGreaterThan(16_384);
    expect(detector.find(key)[0]).toMatchObject({ start: 0, type: "private_key" });
    const token = `eyJ${random(30)}.${random(20_000)}`;
    expect(detector.pendingFrom(token)).toBe(token.length);
  });
});
