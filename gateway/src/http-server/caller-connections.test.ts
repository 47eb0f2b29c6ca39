import { expect, test } from "bun:test";
import { FakeClock } from "../../test/fake-clock.ts";
import { CallerConnections, type ConnectionLimits, type CountedConnection } from "./caller-connections.ts";

function open(limits: Partial<ConnectionLimits> = {}) {
  const clock = new FakeClock();
  const isShared = (address: string): boolean => address.startsWith("127.");
  return { clock, room: new CallerConnections({ max: 100, perAddressMax: null, isShared, ...limits }, clock) };
}

function connection(address: string, idleSince: number | null = null, leave = (): void => {}): CountedConnection {
  return { address, idleSince, leave };
}

/** Enters until it is refused. */
function fill(room: CallerConnections, address: string | ((n: number) => string), leave?: () => void) {
  const entered: { -readonly [Key in keyof CountedConnection]: CountedConnection[Key] }[] = [];
  for (;;) {
    const next = connection(typeof address === "string" ? address : address(entered.length), null, leave);
    if (!room.enter(next)) return entered;
    entered.push(next);
  }
}

test("an address may have as many connections as it leaves free for others", () => {
  const { room } = open();
  expect(fill(room, "192.0.2.1")).toHaveLength(50);
  expect(fill(room, "192.0.2.2")).toHaveLength(25);
  expect(fill(room, "192.0.2.3")).toHaveLength(12);
  expect(room.refusals).toEqual({ address: 3, all: 0 });
  expect(room.open).toBe(87);
});

test("counts an IPv6 /64 as one address", () => {
  const { room } = open();
  expect(fill(room, (n) => `2001:db8::${(n + 1).toString(16)}`)).toHaveLength(50);
  expect(fill(room, "2001:db8:0:1::1")).toHaveLength(25);
});

test("bounds proxies and this machine only in total, and keeps the last slot for a new address", () => {
  const { room } = open();
  expect(fill(room, "127.0.0.1")).toHaveLength(100);
  expect(room.refusals).toEqual({ address: 0, all: 1 });
  expect(room.enter(connection("192.0.2.1"))).toBe(false);
  const other = open();
  for (let n = 0; n < 99; n++) other.room.enter(connection("127.0.0.1"));
  expect(fill(other.room, "192.0.2.1")).toHaveLength(1);
});

test("applies the operator's limit per address", () => {
  const { room } = open({ perAddressMax: 8 });
  const entered = fill(room, "192.0.2.1");
  expect(entered).toHaveLength(8);
  for (const one of entered) {
    room.release(one);
    room.release(one);
  }
  expect(room.open).toBe(0);
  expect(fill(room, "192.0.2.1")).toHaveLength(8);
});

test("closes the longest idle connections each second, and none in use", () => {
  const { room, clock } = open();
  const left: number[] = [];
  for (let n = 0; n < 100; n++) {
    const idleSince = n % 10 === 0 ? null : 100 - n;
    expect(room.enter(connection("127.0.0.1", idleSince, () => void left.push(n)))).toBe(true);
  }
  expect(room.enter(connection("192.0.2.1"))).toBe(true);
  expect(left).toEqual([99, 98, 97, 96, 95, 94, 93]);
  expect(room.closings.room).toBe(7);
  // The closings allowed per second are used up, and no candidate is searched before the next second.
  while (room.open < room.max) room.enter(connection("127.0.0.1"));
  expect(room.enter(connection("192.0.2.2"))).toBe(false);
  clock.advance(1_000);
  expect(room.enter(connection("192.0.2.2"))).toBe(true);
  expect(left).toHaveLength(14);
});

test("closes only idle connections of the address at its limit", () => {
  const { room, clock } = open({ perAddressMax: 4 });
  const left: string[] = [];
  for (const address of ["192.0.2.1", "192.0.2.2"]) {
    for (const one of fill(room, address, () => void left.push(address))) one.idleSince = 1;
  }
  expect(room.enter(connection("192.0.2.2"))).toBe(false);
  clock.advance(1_000);
  expect(room.enter(connection("192.0.2.2"))).toBe(true);
  expect(left).toEqual(["192.0.2.2"]);
});
