import type { LocatingCheck } from "#core/index.ts";

const alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
const random = (length: number): string =>
  Array.from({ length }, (_, index) => alphabet[(index * 37 + ((index * index) % 23)) % alphabet.length]).join("");
const base64Lines = `${random(64)}\n${random(64)}\n${random(20)}==`;

/** Values that a check finds, and beginnings of such values. */
export const fragments: Readonly<Record<LocatingCheck["kind"], readonly string[]>> = {
  credentials: [
    `sk-ant-api03-${random(40)}`,
    `sk-${random(30)}`,
    `ghp_${random(36)}`,
    `AKIA${"ABCDEFGH23456777"}`,
    `eyJ${random(20)}.eyJ${random(30)}.${random(43)}`,
    `Bearer ${random(30)}`,
    'password = "hunter2!x"',
    `{\\"api_key\\": \\"${random(32)}\\"}`,
    "postgres://app:s3cr3t@db:5432/app",
    "redis://:s3c\\r3t@cache",
    `123456789:AA${random(33)}`,
    `-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n${base64Lines}\n-----END RSA PRIVATE KEY-----`,
    `-----BEGIN PRIVATE KEY-----\n${base64Lines}`,
    `https://hooks.slack.com/services/T0/B0/${random(24)}`,
    "密码：hunter22",
    "Authorization: ",
    "token=",
    "-----BEGIN ",
    "://",
  ],
  personal_data: [
    "jane.doe+x@example.co.uk",
    "4111 1111 1111 1111",
    "5555555555554444",
    "DE89 3704 0044 0532 0130 00",
    "GB82WEST12345698765432",
    "+49 (0)30 1234-5678",
    "phone: 030/123 45 67",
    "电话",
    "13800138000",
    "11010519491231002X",
    "192.168.10.20",
    "10.0.0.7",
    "fdab:：1:2",
    "phone 5555）1234",
    "rené@example.com",
    "2001:db8:85a3::8a2e:370:7334",
    "fe80:abcd::1",
    "123-45-6789",
    "NHS number 943 476 5919",
    "AB 12 34 56 C",
    "RSSMRA85T10A562S",
    "12345678Z",
    "X1234567L",
    "PESEL 44051401359",
    "BSN 111222333",
    "850709-9805",
    "Steuer-ID 86095742719",
    "@",
    "+",
    "(",
    "3.14",
  ],
  patterns: ["project-1234-alpha", "EMP123456", "codename  Zebra", "key-ab-ab-ab", "EMP", "project-", "ababab"],
  words: ["Falcon", "falcon nine", "机密", "机密文件", "straße", "ΣΊΣΥΦΟΣ", "fal", "İ", "👩🏽‍🚀", "secret😀"],
};

/** Between two of them. */
export const between = [
  " ",
  " ",
  " ",
  ". ",
  ", ",
  "\n",
  "",
  "-",
  '"',
  "é",
  "的",
  "😀",
  "\u200b",
  "\u00ad",
  "０",
  "ａ",
  "_",
  "=",
  ":",
  "and ",
  "See ",
];

/** The ways in which programs write a text into JSON, without its quotes. */
export const writers: readonly ((text: string) => string)[] = [
  (text) => JSON.stringify(text).slice(1, -1),
  (text) => JSON.stringify(text).slice(1, -1).replaceAll("/", "\\/"),
  // Python's default.
  (text) =>
    JSON.stringify(text)
      .slice(1, -1)
      .replace(/[^ -~]/g, escaped),
  (text) => text.replace(/[\s\S]/g, escaped),
];

function escaped(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
