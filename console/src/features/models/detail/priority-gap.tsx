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

/** The gap between two priorities, a drop target for a new priority. */
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
