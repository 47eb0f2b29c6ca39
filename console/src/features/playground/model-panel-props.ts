import type { KeyCall } from "../media/key-call.ts";

/** Props of the panel of each model type. */
export interface ModelPanelProps {
  readonly call: KeyCall;
  readonly model: string;
  /** Further chat models that get the same messages. */
  readonly others: readonly string[];
  /** API paths of the model. */
  readonly endpoints: readonly string[];
}
