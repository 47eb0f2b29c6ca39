import { expect, test } from "bun:test";
import { addressKind } from "./index.ts";

const privateAddresses = [
  "10.0.0.1",
  "10.255.255.255",
  "100.64.0.1",
  "127.0.0.1",
  "127.255.255.254",
  "172.16.0.1",
  "172.31.255.255",
  "192.168.1.1",
  "198.18.0.1",
  "198.19.255.255",
  "::1",
  "::ffff:127.0.0.1",
  "::ffff:7f00:1",
  "::ffff:8.8.8.8",
  "64:ff9b::7f00:1",
  "64:ff9b::808:808",
  "2002:7f00:1::",
  "2002:c0a8:101::1",
  "2001:0:808:808::80ff:fffe",
  "fc00::1",
  "fd12:3456:789a::1",
];

const forbiddenAddresses = [
  "0.0.0.0",
  "0.1.2.3",
  "100.100.100.200",
  "168.63.129.16",
  "169.254.0.1",
  "169.254.169.254",
  "169.254.170.2",
  "192.0.0.1",
  "192.0.0.192",
  "192.0.2.1",
  "192.88.99.1",
  "198.51.100.7",
  "203.0.113.9",
  "224.0.0.1",
  "239.255.255.255",
  "240.0.0.1",
  "255.255.255.255",
  "::",
  "::7f00:1",
  "::ffff:169.254.169.254",
  "::ffff:0:0",
  "64:ff9b::a9fe:a9fe",
  "2002:a9fe:a9fe::1",
  "2001:db8::1",
  "fe80::1",
  "fec0::1",
  "ff02::1",
  "100::1",
  "4000::1",
  "fd00:ec2::23",
  "fd00:ec2::254",
  "fd00:c1::a9fe:a9fe",
  "fd00:42::42",
  "fd00:a9fe:a9fe::1",
  "fd00:100::100:200",
  "fd20:ce::254",
  "",
  "example.com",
  "1.2.3.4.5",
];

const publicAddresses = ["8.8.8.8", "1.1.1.1", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "2a00:1450:4001::1"];

test.each(privateAddresses)("%s is private", (address) => {
  expect(addressKind(address)).toBe("private");
});

test.each(forbiddenAddresses)("%s is forbidden", (address) => {
  expect(addressKind(address)).toBe("forbidden");
});

test.each(publicAddresses)("%s is public", (address) => {
  expect(addressKind(address)).toBe("public");
});
