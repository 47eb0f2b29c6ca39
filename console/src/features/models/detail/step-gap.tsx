import { useDroppable } from "@dnd-kit/core";
import { t } from "../../../language/areas/models.ts";
import { dropId } from "./drop-places.ts";

interface StepGapProps {
  readonly place: number;
  readonly first: boolean;
  readonly last?: boolean;
  /** Something is being dragged. */
  readonly lifted: boolean;
}

/** Between two steps: says what leads on, and takes what is dropped as a step of its own. */
export function StepGap({ place, first, last = false, lifted }: StepGapProps) {
  const { setNodeRef, isOver } = useDroppable({ id: dropId({ kind: "gap", place }) });
  return (
    <li ref={setNodeRef} className="step-gap" data-edge={first || last || undefined} data-over={isOver || undefined}>
      {lifted && isOver ? t("models.priorities.own") : first || last ? "" : t("models.priorities.next")}
    </li>
  );
}
