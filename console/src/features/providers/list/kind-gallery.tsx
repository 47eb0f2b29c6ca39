import { Skeleton, Stack, Text, TextInput } from "@mantine/core";
import type { ProviderKindForm } from "@sluice/contract";
import { IconSearch } from "@tabler/icons-react";
import { useState } from "react";
import { VendorLogo } from "../../../components/vendors/vendor-logo.tsx";
import { vendorOfKind } from "../../../components/vendors/vendor-of.ts";
import { Rich, t } from "../../../language/areas/providers.ts";
import { typeWords } from "../../catalog/price-words.ts";
import { needsAddress } from "../../catalog/provider-draft.ts";
import { fittingKinds, popularKinds } from "./kind-search.ts";

interface KindGalleryProps {
  /** null while they load. */
  readonly kinds: readonly ProviderKindForm[] | null;
  readonly onChoose: (kind: string) => void;
}

/** All provider types, the popular ones first, searchable by name or output. Enter selects the first. */
export function KindGallery({ kinds, onChoose }: KindGalleryProps) {
  const [search, setSearch] = useState("");
  const found = kinds === null ? null : fittingKinds(kinds, search);
  const popular = search.trim() === "" ? popularKinds(found ?? []) : [];
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
        <>
          <KindList title={t("providers.kinds.popular")} kinds={popular} onChoose={onChoose} />
          <KindList
            title={popular.length > 0 ? t("providers.kinds.all") : null}
            kinds={found.filter((kind) => !popular.includes(kind))}
            onChoose={onChoose}
          />
        </>
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

interface KindListProps {
  readonly title: string | null;
  readonly kinds: readonly ProviderKindForm[];
  readonly onChoose: (kind: string) => void;
}

function KindList({ title, kinds, onChoose }: KindListProps) {
  if (kinds.length === 0) return null;
  return (
    <section>
      {title !== null && (
        <Text size="xs" fw={600} c="dimmed" mb={6}>
          {title}
        </Text>
      )}
      <ul className="kind-gallery" aria-label={title ?? t("providers.kinds.label")}>
        {kinds.map((kind) => (
          <li key={kind.kind}>
            <KindCard kind={kind} onChoose={onChoose} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function KindCard({ kind, onChoose }: { readonly kind: ProviderKindForm; readonly onChoose: (kind: string) => void }) {
  return (
    <button type="button" className="kind-card" onClick={() => onChoose(kind.kind)}>
      <span className="kind-title">
        <VendorLogo icon={vendorOfKind(kind.kind)} name={kind.title} size={20} /> {kind.title}
      </span>
      <span className="kind-types">{kind.types.map((type) => typeWords[type]).join(" · ")}</span>
      <span className="kind-address cut">{addressOf(kind)}</span>
    </button>
  );
}

function addressOf({ base_url, kind, fields }: ProviderKindForm): string {
  if (base_url !== null) return URL.parse(base_url)?.host || kind;
  return needsAddress({ base_url, fields }) ? t("providers.kinds.ownAddress") : t("providers.kinds.bySettings");
}
