import { Button, Group, Select, Skeleton, Text } from "@mantine/core";
import { asKeyPath } from "@sluice/contract";
import { IconBox } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ComponentType, lazy, Suspense, useMemo } from "react";
import { useAsk } from "../../api/call-context.tsx";
import type { Problem } from "../../client/problem.ts";
import { EmptyState } from "../../components/empty-state.tsx";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { t } from "../../language/areas/playground.ts";
import { loadChunk } from "../../routes/load-chunk.ts";
import { useUrlChange, useUrlSearch } from "../../routes/search.ts";
import { useSession } from "../../session/session-context.tsx";
import { useKeyCall } from "../media/key-call.ts";
import { KeySelect } from "../media/key-select.tsx";
import { NoKey } from "../media/no-key.tsx";
import { useChosenKey } from "../media/use-usable-keys.ts";
import { ChatPanel } from "./chat/chat-panel.tsx";
import { useSharedChat } from "./chat/shared-chat.ts";
import type { ModelPanelProps } from "./model-panel-props.ts";
import { modelsMax, modelsOfSearch, searchOfModels } from "./model-search.ts";
import { CompareSelect, ModelSelect } from "./model-select.tsx";
import { chosen, type Mode, modelsIn, modes, modeWords, type PlayModel } from "./modes.ts";

/** Selects the key first, then a model that it may call. */
export function Playground({ slug }: { readonly slug: string }) {
  const { may } = useSession();
  const search = useUrlSearch();
  const change = useUrlChange();
  const { key, keys, problem, reload, choose } = useChosenKey(slug, search["key"]);
  const choosing = (id: string) => {
    choose(id);
    change({ key: id });
  };
  const notShared = useSharedChat(slug);
  const none = keys !== null && key === null;
  if (!may("member", slug) || none) {
    return <NoKey slug={slug} what={t("playground.needsKey")} onMade={choosing} />;
  }
  if (key !== null) {
    return (
      <>
        {notShared !== null && <ProblemAlert problem={notShared} />}
        <WithKey slug={slug} chosenKey={key} onKey={choosing} />
      </>
    );
  }
  return problem === null ? <Skeleton height={56} /> : <ProblemAlert problem={problem} onRetry={reload} />;
}

interface WithKeyProps {
  readonly slug: string;
  readonly chosenKey: string;
  readonly onKey: (key: string) => void;
}

function WithKey({ slug, chosenKey, onKey }: WithKeyProps) {
  const search = useUrlSearch();
  const change = useUrlChange();
  const { models, problem, reload } = useModels(slug, chosenKey);
  const wanted = useMemo(() => modelsOfSearch(search), [search]);
  const { mode, model } = chosen(models ?? [], search["type"] ?? "", wanted[0] ?? "");
  const ofMode = useMemo(() => (models ?? []).filter((each) => each.type === mode), [models, mode]);
  const names = useMemo(() => ofMode.map((each) => each.id), [ofMode]);
  const comparable = useMemo(
    () => (mode === "chat" ? names.filter((each) => each !== model) : []),
    [names, mode, model],
  );
  const others = useMemo(() => wanted.filter((each) => comparable.includes(each)), [wanted, comparable]);
  const missing = models === null || wanted.length < 2 ? [] : wanted.filter((each) => !names.includes(each));
  const compare = (all: readonly (string | null)[]) =>
    change({ type: mode, ...searchOfModels(all.filter((each) => each !== null)) });
  return (
    <>
      <Group gap="sm" align="flex-end" className="play-bar">
        <div className="play-key">
          <KeySelect slug={slug} value={chosenKey} onChange={onKey} label={t("playground.key")} />
        </div>
        <div className="play-mode">
          <Select
            label={t("playground.type")}
            data={modes.map((each) => ({ value: each, label: modeWords[each] }))}
            value={mode}
            onChange={(next) => next !== null && change({ type: next, ...searchOfModels([]) })}
            allowDeselect={false}
          />
        </div>
        <div className="play-model">
          <ModelSelect
            models={names}
            value={model}
            loading={models === null}
            onChange={(next) => compare([next, ...others.filter((each) => each !== next)])}
          />
        </div>
        {comparable.length > 0 && (
          <div className="play-model">
            <CompareSelect
              models={comparable}
              value={others}
              max={modelsMax - 1}
              onChange={(next) => compare([model, ...next])}
            />
          </div>
        )}
      </Group>
      {missing.length > 0 && (
        <Text size="sm" role="status">
          {t("playground.compare.missing", { models: missing.join(", ") })}
        </Text>
      )}
      {problem !== null && <ProblemAlert problem={problem} onRetry={reload} />}
      {models === null && problem === null && <Skeleton height={360} />}
      {models !== null && model === null && (
        <NoModel slug={slug} chosenKey={chosenKey} mode={mode} none={models.length === 0} />
      )}
      {model !== null && (
        <Panel
          slug={slug}
          chosenKey={chosenKey}
          mode={mode}
          model={model}
          others={others}
          endpoints={ofMode.find((each) => each.id === model)?.endpoints ?? []}
        />
      )}
    </>
  );
}

interface PanelProps extends Omit<ModelPanelProps, "call"> {
  readonly slug: string;
  readonly chosenKey: string;
  readonly mode: Mode;
}

function Panel({ slug, chosenKey, mode, ...props }: PanelProps) {
  const call = useKeyCall(slug, chosenKey);
  const OfMode = panels[mode];
  return (
    <Suspense fallback={<Skeleton height={360} />}>
      <OfMode call={call} {...props} />
    </Suspense>
  );
}

/** Chat does not wait for the chunks of other modes. */
const panels: Readonly<Record<Mode, ComponentType<ModelPanelProps>>> = {
  chat: ChatPanel,
  completion: lazy(async () => ({
    default: (await loadChunk(() => import("./completion/completion-panel.tsx"))).CompletionPanel,
  })),
  image: lazy(async () => ({ default: (await loadChunk(() => import("./images/images-panel.tsx"))).ImagesPanel })),
  video: lazy(async () => ({ default: (await loadChunk(() => import("./video/video-panel.tsx"))).VideoPanel })),
  embedding: lazy(async () => ({
    default: (await loadChunk(() => import("./embeddings/embeddings-panel.tsx"))).EmbeddingsPanel,
  })),
  rerank: lazy(async () => ({ default: (await loadChunk(() => import("./rerank/rerank-panel.tsx"))).RerankPanel })),
  moderation: lazy(async () => ({
    default: (await loadChunk(() => import("./moderation/moderation-panel.tsx"))).ModerationPanel,
  })),
  decision: lazy(async () => ({
    default: (await loadChunk(() => import("./decision/decision-panel.tsx"))).DecisionPanel,
  })),
  transcription: lazy(async () => ({
    default: (await loadChunk(() => import("./transcription/transcription-panel.tsx"))).TranscriptionPanel,
  })),
  speech: lazy(async () => ({ default: (await loadChunk(() => import("./speech/speech-panel.tsx"))).SpeechPanel })),
};

interface NoModelProps {
  readonly slug: string;
  readonly chosenKey: string;
  readonly mode: Mode;
  readonly none: boolean;
}

function NoModel({ slug, chosenKey, mode, none }: NoModelProps) {
  const { user } = useSession();
  return (
    <EmptyState
      icon={<IconBox />}
      title={none ? t("playground.noModel.any") : t("playground.noModel.ofType", { type: modeWords[mode] })}
      action={
        user.administrator ? (
          <Button renderRoot={(props) => <Link to="/models" {...props} />}>{t("playground.noModel.models")}</Button>
        ) : (
          <Button
            variant="default"
            renderRoot={(props) => (
              <Link to="/keys/$key" params={{ key: chosenKey }} search={{ workspace: slug }} {...props} />
            )}
          >
            {t("playground.noModel.key")}
          </Button>
        )
      }
    >
      {t("playground.noModel.help")}
    </EmptyState>
  );
}

/** The models that the key may call, from `GET /v1/models`. */
function useModels(workspace: string, key: string) {
  const ask = useAsk();
  const path = `${asKeyPath(workspace, key)}/v1/models`;
  const query = useQuery<readonly PlayModel[], Problem>({
    queryKey: ["playground.models", workspace, key],
    queryFn: async ({ signal }) => modelsIn(await ask(path, { method: "GET", body: null, signal })),
  });
  return { models: query.data ?? null, problem: query.error, reload: () => void query.refetch() };
}
