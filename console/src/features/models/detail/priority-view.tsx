import { useDroppable } from "@dnd-kit/core";
import type { Health } from "@sluice/contract";
import { t } from "../../../language/areas/models.ts";
import type { ModelType } from "../../catalog/price-words.ts";
import { DeploymentCard } from "./deployment-card.tsx";
import { dropId } from "./drop-places.ts";
import { changed, movedEarlier, movedLater, type Priorities, type Priority, removed, sharesOf } from "./priorities.ts";

interface PriorityViewProps {
  readonly place: number;
  readonly priority: Priority;
  readonly priorities: Priorities;
  readonly health: ReadonlyMap<string, Health>;
  /** Disabled providers. */
  readonly off: ReadonlySet<string>;
  readonly type: ModelType;
  readonly onChange: (priorities: Priorities) => void;
  /** The deployment that a button has moved, which gets the focus. */
  readonly onMove: (priorities: Priorities, key: string, button: "earlier" | "later") => void;
  readonly disabled: boolean;
}

/** Deployments of one priority, side by side. */
export function PriorityView({
  place,
  priority,
  priorities,
  health,
  off,
  type,
  onChange,
  onMove,
  disabled,
}: PriorityViewProps) {
  const { setNodeRef, isOver, active } = useDroppable({ id: dropId({ kind: "priority", place }) });
  const shares = sharesOf(priority.map((each) => (off.has(each.provider) ? { ...each, enabled: false } : each)));
  const isGuest = active !== null && priority.every((each) => each.key !== active.id);
  const count = priorities.flat().length;
  return (
    <li ref={setNodeRef} className="priority" data-over={(isOver && isGuest) || undefined}>
      <span className="priority-number">
        <span className="unseen">{t("models.priorities.one")} </span>
        {place + 1}
      </span>
      <ul className="priority-cards" aria-label={t("models.priorities.numbered", { place: place + 1 })}>
        {priority.map((one) => {
          const isFirst = place === 0 && priority.length === 1;
          const isLast = place === priorities.length - 1 && priority.length === 1;
          return (
            <DeploymentCard
              key={one.key}
              one={one}
              health={health.get(one.key) ?? null}
              providerOff={off.has(one.provider)}
              share={priority.length === 1 ? null : (shares.get(one.key) ?? 0)}
              type={type}
              disabled={disabled}
              onChange={(part) => onChange(changed(priorities, one.key, part))}
              onEarlier={isFirst ? null : () => onMove(movedEarlier(priorities, one.key), one.key, "earlier")}
              onLater={isLast ? null : () => onMove(movedLater(priorities, one.key), one.key, "later")}
              onRemove={count === 1 ? null : () => onChange(removed(priorities, one.key))}
            />
          );
        })}
      </ul>
    </li>
  );
}
