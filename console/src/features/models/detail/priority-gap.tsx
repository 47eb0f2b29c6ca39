import { useDroppable } from "@dnd-kit/core";
import { t } from "../../../language/areas/models.ts";
import { dropId } from "./drop-places.ts";

interface PriorityGapProps {
  readonly place: number;
  readonly first: boolean;
  readonly last?: boolean;
  /** Something is being dragged. */
  readonly lifted: boolean;
}

/** Between two priorities: says what leads on, and takes what is dropped as a priority of its own. */
export function PriorityGap({ place, first, last = false, lifted }: PriorityGapProps) {
  const { setNodeRef, isOver } = useDroppable({ id: dropId({ kind: "gap", place }) });
  return (
    <li
      ref={setNodeRef}
      className="priority-gap"
      data-edge={first || last || undefined}
      data-over={isOver || undefined}
    >
      {lifted && isOver ? t("models.priorities.own") : first || last ? "" : t("models.priorities.next")}
    </li>
  );
}
