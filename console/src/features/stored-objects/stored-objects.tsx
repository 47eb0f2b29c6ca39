import { Select } from "@mantine/core";
import { type StoredObject, storedObjectKinds } from "@sluice/contract";
import { useState } from "react";
import { useCall } from "../../api/use-call.ts";
import { CopyText } from "../../components/copy-button.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Nothing, When } from "../../components/figures.tsx";
import { rowsOf } from "../../components/rows.ts";
import { Section } from "../../components/section.tsx";
import { t } from "../../language/areas/stored-objects.ts";

interface StoredObjectsProps {
  /** A slug. */
  readonly workspace: string;
  /** The id of a key; absent: all keys of the workspace. */
  readonly of?: string;
}

/** Objects that vendors keep for the calls of a workspace or key; nothing if there are none. */
export function StoredObjects({ workspace, of }: StoredObjectsProps) {
  const [kind, setKind] = useState<StoredObject["kind"] | null>(null);
  const { data } = useCall("storedObjects.list", {
    params: { workspace },
    query: { ...(kind === null ? {} : { kind }), ...(of === undefined ? {} : { key: of }) },
    keepBefore: true,
  });
  if (data === undefined || (data.data.length === 0 && kind === null)) return null;
  return (
    <Section
      title={t("storedObjects.title")}
      description={t("storedObjects.help")}
      actions={
        <Select
          className="filter"
          aria-label={t("storedObjects.kind")}
          placeholder={t("storedObjects.kind")}
          data={storedObjectKinds.map((value) => ({ value, label: t(`storedObjects.kinds.${value}`) }))}
          value={kind}
          onChange={(value) => setKind(storedObjectKinds.find((each) => each === value) ?? null)}
          clearable
        />
      }
      flush
    >
      <DataTable
        label={t("storedObjects.title")}
        columns={of === undefined ? columns : columns.filter(({ id }) => id !== "key")}
        rows={rowsOf(data.data)}
        rowKey={({ id }) => id}
        empty={t("storedObjects.none")}
      />
    </Section>
  );
}

const columns: readonly Column<StoredObject>[] = [
  {
    id: "id",
    header: t("storedObjects.id"),
    cell: ({ id }) => <CopyText value={id} label={t("storedObjects.copyId")} />,
  },
  { id: "kind", header: t("storedObjects.kind"), cell: ({ kind }) => t(`storedObjects.kinds.${kind}`) },
  { id: "provider", header: t("storedObjects.provider"), cell: ({ provider }) => provider },
  { id: "model", header: t("storedObjects.model"), cell: ({ model }) => model || <Nothing /> },
  { id: "key", header: t("storedObjects.key"), cell: ({ key }) => key.name || <Nothing /> },
  {
    id: "created",
    header: t("storedObjects.created"),
    align: "right",
    cell: ({ created_at: at }) => <When at={at} />,
  },
  {
    id: "expires",
    header: t("storedObjects.expires"),
    align: "right",
    cell: ({ expires_at: at }) => <When at={at} />,
  },
];
