import {
  type Announcements,
  type CollisionDetection,
  closestCenter,
  DndContext,
  DragOverlay,
  KeyboardSensor,
  PointerSensor,
  pointerWithin,
  useSensor,
  useSensors,
} from "@dnd-kit/core";
import { Button } from "@mantine/core";
import type { ConsoleModel } from "@sluice/contract";
import { IconPlus } from "@tabler/icons-react";
import { Fragment, useEffect, useMemo, useRef, useState } from "react";
import { useCall } from "../../../api/use-call.ts";
import { Section } from "../../../components/section.tsx";
import { t } from "../../../language/areas/models.ts";
import { AddDeployment } from "./add-deployment.tsx";
import { byPlaces, dropPlace, dropped } from "./drop-places.ts";
import { added, type Placed, type Priorities, placedKey } from "./priorities.ts";
import { PriorityGap } from "./priority-gap.tsx";
import { PriorityView } from "./priority-view.tsx";

interface DeploymentsSectionProps {
  readonly model: ConsoleModel;
  readonly priorities: Priorities;
  readonly onChange: (priorities: Priorities) => void;
  readonly disabled: boolean;
}

/** The order in which deployments are tried: dragged, moved with buttons, or lifted with the keyboard. */
export function DeploymentsSection({ model, priorities, onChange, disabled }: DeploymentsSectionProps) {
  const [lifted, setLifted] = useState<string | null>(null);
  const [adding, setAdding] = useState(false);
  const { list, told, move } = useButtonMoves(priorities, onChange);
  const all = priorities.flat();
  const health = useMemo(
    () => new Map(model.deployments.map((each) => [placedKey(each.provider, each.upstream_model), each.health])),
    [model.deployments],
  );
  const providers = useCall("providers.list").data?.data;
  const off = useMemo(
    () => new Set((providers ?? []).filter((each) => !each.enabled).map((each) => each.id)),
    [providers],
  );
  const sensors = useSensors(
    // A click on the handle does not start a drag.
    useSensor(PointerSensor, { activationConstraint: { distance: 4 } }),
    useSensor(KeyboardSensor, { coordinateGetter: byPlaces }),
  );
  const liftedOne = all.find((each) => each.key === lifted);
  return (
    <Section
      title={t("models.deployments.title")}
      description={t("models.deployments.help")}
      actions={
        !disabled && (
          <Button variant="default" leftSection={<IconPlus size={14} aria-hidden />} onClick={() => setAdding(true)}>
            {t("models.deployments.add")}
          </Button>
        )
      }
    >
      <DndContext
        sensors={sensors}
        collisionDetection={underPointer}
        accessibility={{ announcements: announcementsFor(priorities), screenReaderInstructions: instructions }}
        onDragStart={({ active }) => setLifted(String(active.id))}
        onDragCancel={() => setLifted(null)}
        onDragEnd={({ active, over }) => {
          setLifted(null);
          const place = over === null ? null : dropPlace(String(over.id));
          if (place !== null) onChange(dropped(priorities, String(active.id), place));
        }}
      >
        <ol ref={list} className="priorities" data-lifted={lifted !== null || undefined}>
          {priorities.map((priority, place) => (
            <Fragment key={priority.map((each) => each.key).join()}>
              <PriorityGap place={place} first={place === 0} lifted={lifted !== null} />
              <PriorityView
                place={place}
                priority={priority}
                priorities={priorities}
                health={health}
                off={off}
                type={model.type}
                onChange={onChange}
                onMove={move}
                disabled={disabled}
              />
            </Fragment>
          ))}
          <PriorityGap place={priorities.length} first={false} lifted={lifted !== null} last />
        </ol>
        <DragOverlay dropAnimation={null}>{liftedOne !== undefined && <Lifted one={liftedOne} />}</DragOverlay>
      </DndContext>
      <div className="unseen" aria-live="polite">
        {told}
      </div>
      {adding && (
        <AddDeployment
          model={model.name}
          usedKeys={all.map((each) => each.key)}
          onClose={() => setAdding(false)}
          onAdd={(provider, upstreamModel) => {
            onChange(added(priorities, provider, upstreamModel));
            setAdding(false);
          }}
        />
      )}
    </Section>
  );
}

function Lifted({ one }: { readonly one: Placed }) {
  return (
    <div className="deployment deployment-lifted">
      <span className="deployment-name">{one.provider}</span> <span className="aside">{one.upstreamModel}</span>
    </div>
  );
}

/** A moved card is rendered again: the move button keeps the focus, and the new place is announced. */
function useButtonMoves(priorities: Priorities, onChange: (priorities: Priorities) => void) {
  const list = useRef<HTMLOListElement>(null);
  const [moved, setMoved] = useState<{ readonly key: string; readonly button: string } | null>(null);
  useEffect(() => {
    if (moved === null) return;
    const card = [...(list.current?.children ?? [])]
      .flatMap((priority) => [...priority.querySelectorAll<HTMLElement>(".deployment")])
      .find((each) => each.dataset["key"] === moved.key);
    const buttons = [...(card?.querySelectorAll<HTMLButtonElement>("[data-move]:not(:disabled)") ?? [])];
    (buttons.find((each) => each.dataset["move"] === moved.button) ?? buttons[0])?.focus();
  }, [moved]);
  const place =
    moved === null ? -1 : priorities.findIndex((priority) => priority.some((each) => each.key === moved.key));
  return {
    list,
    told:
      place < 0
        ? ""
        : t("models.dragging.moved", {
            name: providerOf(priorities, moved?.key),
            place: place + 1,
            count: priorities.length,
          }),
    move: (next: Priorities, key: string, button: "earlier" | "later") => {
      onChange(next);
      setMoved({ key, button });
    },
  };
}

/** The target under the pointer; with the keyboard, the nearest one. */
const underPointer: CollisionDetection = (asked) => {
  const under = pointerWithin(asked);
  return under.length > 0 ? under : closestCenter(asked);
};

const instructions = {
  draggable: t("models.dragging.help"),
};

function announcementsFor(priorities: Priorities): Announcements {
  const where = (id: string | number | undefined) => {
    const place = id === undefined ? null : dropPlace(String(id));
    if (place === null) return t("models.dragging.nowhere");
    if (place.kind === "priority") return t("models.dragging.inside", { place: place.place + 1 });
    return place.place === priorities.length
      ? t("models.dragging.last")
      : t("models.dragging.before", { place: place.place + 1 });
  };
  return {
    onDragStart: ({ active }) => t("models.dragging.lifted", { name: providerOf(priorities, active.id) }),
    onDragOver: ({ active, over }) =>
      t("models.dragging.over", { name: providerOf(priorities, active.id), where: where(over?.id) }),
    onDragEnd: ({ active, over }) =>
      t("models.dragging.dropped", { name: providerOf(priorities, active.id), where: where(over?.id) }),
    onDragCancel: ({ active }) => t("models.dragging.cancelled", { name: providerOf(priorities, active.id) }),
  };
}

function providerOf(priorities: Priorities, key: string | number | undefined): string {
  return priorities.flat().find((each) => each.key === key)?.provider ?? t("models.dragging.deployment");
}
