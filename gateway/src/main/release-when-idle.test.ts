import { expect, test } from "bun:test";
import { bounds } from "#core/index.ts";
import { FakeClock } from "../../test/fake-clock.ts";
import { releaseWhenIdle } from "./open-data.ts";

const megabyte = 1024 * 1024;

/** A process whose memory the test sets. `leaves`: bytes after a release. */
function openProcess({ leaves }: { readonly leaves: number }) {
  const clock = new FakeClock();
  const state = { held: 90 * megabyte, isBusy: false, times: 0 };
  const idleMemory = releaseWhenIdle({
    clock,
    residentBytes: () => state.held,
    async releaseMemory() {
      state.times++;
      state.held = leaves;
    },
  });
  idleMemory.busyWhile(() => state.isBusy);
  const becomeIdle = async (): Promise<void> => {
    idleMemory.idle();
    clock.advance(bounds.restSettleMs);
    for (let turn = 0; turn < 5; turn++) await Promise.resolve();
    clock.advance(bounds.restSettleMs);
  };
  return { clock, idleMemory, state, becomeIdle };
}

test("releases what the start left, and memory once after each load", async () => {
  const { clock, state, becomeIdle } = openProcess({ leaves: 110 * megabyte });
  state.held = 180 * megabyte;
  await becomeIdle();
  expect(state.times).toBe(1);
  await becomeIdle();
  expect(state.times).toBe(1);
  state.held = 180 * megabyte;
  await becomeIdle();
  expect(state.times).toBe(2);
  expect(clock.pending).toBe(0);
});

test("does not release memory again after a few calls", async () => {
  const { state, becomeIdle } = openProcess({ leaves: 90 * megabyte });
  await becomeIdle();
  for (let call = 0; call < 10; call++) {
    state.held = 90 * megabyte + (call % 3) * (bounds.restGrowthBytes / 4);
    await becomeIdle();
  }
  expect(state.times).toBe(1);
});

test("releases memory when the work that delayed it has ended", async () => {
  const { clock, state, becomeIdle } = openProcess({ leaves: 90 * megabyte });
  state.isBusy = true;
  await becomeIdle();
  expect(state.times).toBe(0);
  state.isBusy = false;
  clock.advance(bounds.restSettleMs);
  expect(state.times).toBe(1);
});

test("does not release memory during a call or after close", async () => {
  const { clock, idleMemory, state, becomeIdle } = openProcess({ leaves: 0 });
  state.held = 180 * megabyte;
  state.isBusy = true;
  await becomeIdle();
  expect(state.times).toBe(0);
  state.isBusy = false;
  idleMemory.idle();
  idleMemory.close();
  expect(clock.pending).toBe(0);
  await becomeIdle();
  expect(state.times).toBe(1);
});
