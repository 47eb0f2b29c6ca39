import { z } from "zod";
import {
  anthropicErrorBodySchema,
  anthropicModelAnswerSchema,
  anthropicModelListAnswerSchema,
  awsErrorBodySchema,
  errorBodySchema,
  geminiErrorBodySchema,
  geminiModelAnswerSchema,
  geminiModelListAnswerSchema,
  interactionErrorBodySchema,
  limitUsageSchema,
  modelAnswerSchema,
  modelListAnswerSchema,
  modelUsageSchema,
  setupAnswerSchema,
  setupRequestSchema,
  statusAnswerSchema,
  usageReportSchema,
  usageTotalsSchema,
} from "../answers.ts";
import { assetFields, assetGroupFields } from "../asset-fields.ts";
import { assetForm, openAiVideoForm } from "../form-fields.ts";
import { requestFields } from "../request-fields.ts";
import { openAiRemixFields, openAiVideoFields, videoTaskFields } from "../video-fields.ts";
import {
  assetGroupListSchema,
  assetGroupSchema,
  assetListSchema,
  assetSchema,
  deletedSchema,
} from "./asset-schemas.ts";
import { chatAnswerSchema } from "./chat-schemas.ts";
import { schemaOf } from "./field-schema.ts";
import { fileUploadSchema, uploadCompleteSchema, uploadRequestSchema } from "./file-paths.ts";
import * as files from "./file-schemas.ts";
import { openAiVideoDeletedSchema, openAiVideoListSchema, openAiVideoSchema } from "./openai-video-schemas.ts";
import type { JsonSchema } from "./types.ts";
import { videoOutputSchema, videoTaskListSchema, videoTaskSchema } from "./video-schemas.ts";

/** The named schemas of the document. Responses use the zod schemas of our own types; requests use the tables that validate them. */
export function componentSchemas(): Record<string, JsonSchema> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, { uri: (id) => `#/components/schemas/${id}` });
  const answers = Object.entries(schemas).map(([id, schema]) => {
    const { $schema: _dialect, $id: _uri, ...rest } = schema;
    return [id, rest];
  });
  return { ...Object.fromEntries(answers), ...requests };
}

/** Schemas of requests, from the tables that validate them. */
const requests: Readonly<Record<string, JsonSchema>> = {
  ChatRequest: schemaOf(requestFields.chat),
  VideoTaskRequest: schemaOf(videoTaskFields),
  AssetGroupRequest: schemaOf(assetGroupFields),
  AssetRequest: schemaOf(assetFields),
  AssetUpload: schemaOf(assetForm),
  FileUpload: fileUploadSchema,
  UploadRequest: uploadRequestSchema,
  UploadComplete: uploadCompleteSchema,
  VideoRequest: schemaOf(openAiVideoFields),
  VideoForm: schemaOf(openAiVideoForm),
  VideoRemixRequest: schemaOf(openAiRemixFields),
};

const named = {
  Model: modelAnswerSchema,
  ModelList: modelListAnswerSchema,
  AnthropicModel: anthropicModelAnswerSchema,
  AnthropicModelList: anthropicModelListAnswerSchema,
  GeminiModel: geminiModelAnswerSchema,
  GeminiModelList: geminiModelListAnswerSchema,
  ChatAnswer: chatAnswerSchema,
  VideoDeleted: openAiVideoDeletedSchema,
  Video: openAiVideoSchema,
  VideoList: openAiVideoListSchema,
  VideoTask: videoTaskSchema,
  VideoOutput: videoOutputSchema,
  VideoTaskList: videoTaskListSchema,
  AssetGroup: assetGroupSchema,
  AssetGroupList: assetGroupListSchema,
  Asset: assetSchema,
  AssetList: assetListSchema,
  Deleted: deletedSchema,
  File: files.fileSchema,
  FileList: files.fileListSchema,
  FileDeleted: files.fileDeletedSchema,
  AnthropicFile: files.anthropicFileSchema,
  AnthropicFileList: files.anthropicFileListSchema,
  AnthropicFileDeleted: files.anthropicFileDeletedSchema,
  GeminiFile: files.geminiFileSchema,
  GeminiFileList: files.geminiFileListSchema,
  Upload: files.uploadSchema,
  UploadPart: files.uploadPartSchema,
  Usage: usageReportSchema,
  UsageTotals: usageTotalsSchema,
  ModelUsage: modelUsageSchema,
  LimitUsage: limitUsageSchema,
  Error: errorBodySchema,
  AnthropicError: anthropicErrorBodySchema,
  GeminiError: geminiErrorBodySchema,
  InteractionError: interactionErrorBodySchema,
  AwsError: awsErrorBodySchema,
  Status: statusAnswerSchema,
  SetupRequest: setupRequestSchema,
  SetupAnswer: setupAnswerSchema,
} as const;
