import { expect, test } from "bun:test";
import { bounds } from "#core/index.ts";
import { FakeClock } from "../../test/fake-clock.ts";
import { letGoAtRest } from "./open-data.ts";

const megabyte = 1024 * 1024;

/** A process whose memory the test sets; what it lets go of, `leaves` says. */
function openProcess({ leaves }: { readonly leaves: number }) {
  const clock = new FakeClock();
  const state = { held: 90 * megabyte, isBusy: false, times: 0 };
  const rest = letGoAtRest({
    clock,
    residentBytes: () => state.held,
    async letGo() {
      state.times++;
      state.held = leaves;
    },
  });
  rest.unless(() => state.isBusy);
  const rests = async (): Promise<void> => {
    rest.begins();
    clock.advance(bounds.restSettleMs);
    for (let turn = 0; turn < 5; turn++) await Promise.resolve();
    clock.advance(bounds.restSettleMs);
  };
  return { clock, rest, state, rests };
}

test("a process that comes to rest after a load lets go of what it left, once, and again after the next one", async () => {
  const { clock, state, rests } = openProcess({ leaves: 110 * megabyte });
  state.held = 180 * megabyte;
  await rests();
  expect(state.times).toBe(1);
  await rests();
  expect(state.times).toBe(1);
  state.held = 180 * megabyte;
  await rests();
  expect(state.times).toBe(2);
  expect(clock.pending).toBe(0);
});

test("a process that is called now and then and does not grow by it keeps its warm code", async () => {
  const { state, rests } = openProcess({ leaves: 0 });
  for (let call = 0; call < 10; call++) {
    state.held = 90 * megabyte + (call % 3) * (bounds.restGrowthBytes / 4);
    await rests();
  }
  expect(state.times).toBe(0);
});

test("nothing is let go of while a call is under way, nor when the process ends", async () => {
  const { clock, rest, state, rests } = openProcess({ leaves: 0 });
  state.held = 180 * megabyte;
  state.isBusy = true;
  await rests();
  expect(state.times).toBe(0);
  state.isBusy = false;
  rest.begins();
  rest.close();
  expect(clock.pending).toBe(0);
  await rests();
  expect(state.times).toBe(1);
});
