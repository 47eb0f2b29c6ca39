export interface Cell {
  readonly row: number;
  readonly column: number;
}

const pageRows = 10;

/** The cell that a key press moves to, according to the ARIA grid pattern; null: no move. */
export function moved(
  { row, column }: Cell,
  key: string,
  ctrl: boolean,
  size: { readonly rows: number; readonly columns: number },
): Cell | null {
  const last = { row: size.rows - 1, column: size.columns - 1 };
  const within = (value: number, most: number) => Math.max(0, Math.min(most, value));
  switch (key) {
    case "ArrowUp":
      return { row: within(row - 1, last.row), column };
    case "ArrowDown":
      return { row: within(row + 1, last.row), column };
    case "ArrowLeft":
      return { row, column: within(column - 1, last.column) };
    case "ArrowRight":
      return { row, column: within(column + 1, last.column) };
    case "PageUp":
      return { row: within(row - pageRows, last.row), column };
    case "PageDown":
      return { row: within(row + pageRows, last.row), column };
    case "Home":
      return { row: ctrl ? 0 : row, column: 0 };
    case "End":
      return { row: ctrl ? last.row : row, column: last.column };
    default:
      return null;
  }
}
