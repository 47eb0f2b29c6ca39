import { expect, test } from "bun:test";
import { addressList, budget, expiry, nameList, pointInTime, portNumber } from "./option-readers.ts";

const now = Date.parse("2026-11-21T12:00:00Z");

test("an expiry is a time from now or a date, and lies in the future", () => {
  expect(expiry("90d", now)).toBe(Date.parse("2027-02-19T12:00:00Z"));
  expect(expiry("12h", now)).toBe(Date.parse("2026-11-22T00:00:00Z"));
  expect(expiry("2030-01-31", now)).toBe(Date.parse("2030-01-31T00:00:00Z"));
  expect(expiry("2030-01-31T08:00:00+08:00", now)).toBe(Date.parse("2030-01-31T00:00:00Z"));
  for (const wrong of [
    "",
    "90",
    "d",
    "-1d",
    "1y",
    "31.01.2030",
    "2030-13-01",
    "2030-01-31 08:00",
    "2030-01-31T08:00",
  ]) {
    expect(() => expiry(wrong, now)).toThrow("a time from now such as 90d");
  }
  for (const past of ["0d", "2020-01-01"]) expect(() => expiry(past, now)).toThrow("in the future");
});

test("a budget is USD in a period", () => {
  expect(budget("50/month")).toEqual({ usd: 50, period: "month" });
  expect(budget("0.25/day")).toEqual({ usd: 0.25, period: "day" });
  expect(budget("5/rolling-hour")).toEqual({ usd: 5, period: "hour", rolling: true });
  expect(() => budget("5/rolling-total")).toThrow("such as 50/month");
  for (const wrong of ["50", "50/year", "-1/day", "1e3/day", "/day", "50 /day"]) {
    expect(() => budget(wrong)).toThrow("such as 50/month");
  }
});

test("lists are given with commas or by repeating the option", () => {
  expect(nameList("b, c,", nameList("a"))).toEqual(["a", "b", "c"]);
  expect(() => nameList(" , ")).toThrow("at least one");
  expect(addressList("10.0.0.0/8,::1")).toEqual(["10.0.0.0/8", "::1"]);
  for (const wrong of ["10.0.0.0/33", "10.1", "example.com", "10.0.0.0/8/8"]) {
    expect(() => addressList(wrong)).toThrow("an IP address or a range");
  }
});

test("numbers are whole and within their bounds", () => {
  expect(portNumber("0")).toBe(0);
  expect(portNumber("65535")).toBe(65_535);
  for (const wrong of ["65536", "-1", "1.5", "0x10", "1e3", ""]) expect(() => portNumber(wrong)).toThrow("an integer");
});

test("a point in time is a date in UTC or a time with its zone", () => {
  expect(pointInTime("2026-11-21")).toBe(Date.parse("2026-11-21T00:00:00Z"));
  expect(() => pointInTime("yesterday")).toThrow("a date such as");
});
