/** A reason not to start that the operator can mend; shown as one line. */
export class CannotStart extends Error {
  override readonly name = "CannotStart";
}
