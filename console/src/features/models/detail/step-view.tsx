import { useDroppable } from "@dnd-kit/core";
import type { Health } from "@sluice/contract";
import { t } from "../../../language/areas/models.ts";
import type { ModelType } from "../../catalog/price-words.ts";
import { DeploymentCard } from "./deployment-card.tsx";
import { dropId } from "./drop-places.ts";
import { changed, movedEarlier, movedLater, removed, type Step, type Steps, sharesOf } from "./steps.ts";

interface StepViewProps {
  readonly place: number;
  readonly step: Step;
  readonly steps: Steps;
  readonly health: ReadonlyMap<string, Health>;
  /** Providers that are switched off. */
  readonly off: ReadonlySet<string>;
  readonly type: ModelType;
  readonly onChange: (steps: Steps) => void;
  /** Moved by a button: the focus follows what it moved. */
  readonly onMove: (steps: Steps, key: string, button: "earlier" | "later") => void;
  readonly disabled: boolean;
}

/** Deployments of one priority, side by side. */
export function StepView({ place, step, steps, health, off, type, onChange, onMove, disabled }: StepViewProps) {
  const { setNodeRef, isOver, active } = useDroppable({ id: dropId({ kind: "step", place }) });
  const shares = sharesOf(step.map((each) => (off.has(each.provider) ? { ...each, enabled: false } : each)));
  const isGuest = active !== null && step.every((each) => each.key !== active.id);
  const count = steps.flat().length;
  return (
    <li ref={setNodeRef} className="step" data-over={(isOver && isGuest) || undefined}>
      <span className="step-number">
        <span className="unseen">{t("models.priorities.one")} </span>
        {place + 1}
      </span>
      <ul className="step-cards" aria-label={t("models.priorities.numbered", { place: place + 1 })}>
        {step.map((one) => {
          const isFirst = place === 0 && step.length === 1;
          const isLast = place === steps.length - 1 && step.length === 1;
          return (
            <DeploymentCard
              key={one.key}
              one={one}
              health={health.get(one.key) ?? null}
              providerOff={off.has(one.provider)}
              share={step.length === 1 ? null : (shares.get(one.key) ?? 0)}
              type={type}
              disabled={disabled}
              onChange={(part) => onChange(changed(steps, one.key, part))}
              onEarlier={isFirst ? null : () => onMove(movedEarlier(steps, one.key), one.key, "earlier")}
              onLater={isLast ? null : () => onMove(movedLater(steps, one.key), one.key, "later")}
              onRemove={count === 1 ? null : () => onChange(removed(steps, one.key))}
            />
          );
        })}
      </ul>
    </li>
  );
}
