import { expect, test } from "bun:test";
import { moved } from "./cell-moves.ts";

const size = { rows: 30, columns: 5 };

test("the arrow keys move one cell and stop at the edges", () => {
  expect(moved({ row: 0, column: 0 }, "ArrowUp", false, size)).toEqual({ row: 0, column: 0 });
  expect(moved({ row: 0, column: 0 }, "ArrowDown", false, size)).toEqual({ row: 1, column: 0 });
  expect(moved({ row: 2, column: 4 }, "ArrowRight", false, size)).toEqual({ row: 2, column: 4 });
  expect(moved({ row: 2, column: 4 }, "ArrowLeft", false, size)).toEqual({ row: 2, column: 3 });
});

test("Home and End move within the row, with Ctrl to the corners; Page keys move ten rows", () => {
  expect(moved({ row: 2, column: 3 }, "Home", false, size)).toEqual({ row: 2, column: 0 });
  expect(moved({ row: 2, column: 3 }, "End", true, size)).toEqual({ row: 29, column: 4 });
  expect(moved({ row: 25, column: 3 }, "PageDown", false, size)).toEqual({ row: 29, column: 3 });
  expect(moved({ row: 25, column: 3 }, "x", false, size)).toBeNull();
});
