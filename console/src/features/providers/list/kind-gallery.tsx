import { Skeleton, Stack, Text, TextInput } from "@mantine/core";
import type { ProviderKindForm } from "@sluice/contract";
import { IconSearch } from "@tabler/icons-react";
import { useState } from "react";
import { Rich, t } from "../../../language/areas/providers.ts";
import { typeWords } from "../../catalog/price-words.ts";
import { needsAddress } from "../../catalog/provider-draft.ts";
import { fittingKinds } from "./kind-search.ts";

interface KindGalleryProps {
  /** null while they load. */
  readonly kinds: readonly ProviderKindForm[] | null;
  readonly onChoose: (kind: string) => void;
}

/** All provider types, searchable by name or output. Enter selects the first. */
export function KindGallery({ kinds, onChoose }: KindGalleryProps) {
  const [search, setSearch] = useState("");
  const found = kinds === null ? null : fittingKinds(kinds, search);
  return (
    <Stack gap="md">
      <TextInput
        label={t("providers.kinds.find")}
        placeholder={t("providers.kinds.findHelp")}
        type="search"
        data-autofocus
        leftSection={<IconSearch size={15} aria-hidden />}
        value={search}
        onChange={(event) => setSearch(event.currentTarget.value)}
        onKeyDown={(event) => {
          const first = found?.[0];
          if (event.key === "Enter" && first !== undefined && search.trim() !== "") onChoose(first.kind);
        }}
      />
      <div className="unseen" aria-live="polite">
        {found === null ? "" : t("providers.kinds.count", { count: found.length })}
      </div>
      {found === null ? (
        <div className="kind-gallery">
          {[1, 2, 3, 4, 5, 6].map((place) => (
            <Skeleton key={place} height={76} />
          ))}
        </div>
      ) : (
        <ul className="kind-gallery" aria-label={t("providers.kinds.label")}>
          {found.map((kind) => (
            <li key={kind.kind}>
              <KindCard kind={kind} onChoose={onChoose} />
            </li>
          ))}
        </ul>
      )}
      {found?.length === 0 && (
        <Text size="sm" c="dimmed">
          <Rich
            text="providers.kinds.noMatch"
            tags={{
              compatible: (inside) => (
                <button type="button" className="text-button" onClick={() => onChoose("openai-compatible")}>
                  {inside}
                </button>
              ),
            }}
          />
        </Text>
      )}
    </Stack>
  );
}

function KindCard({ kind, onChoose }: { readonly kind: ProviderKindForm; readonly onChoose: (kind: string) => void }) {
  return (
    <button type="button" className="kind-card" onClick={() => onChoose(kind.kind)}>
      <span className="kind-title">{kind.title}</span>
      <span className="kind-types">{kind.types.map((type) => typeWords[type]).join(" · ")}</span>
      <span className="kind-address cut">{addressOf(kind)}</span>
    </button>
  );
}

function addressOf({ base_url, kind, fields }: ProviderKindForm): string {
  if (base_url !== null) return URL.parse(base_url)?.host || kind;
  return needsAddress({ base_url, fields }) ? t("providers.kinds.ownAddress") : t("providers.kinds.bySettings");
}
