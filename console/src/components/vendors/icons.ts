import anthropic from "@lobehub/icons-static-svg/icons/anthropic.svg";
import azure from "@lobehub/icons-static-svg/icons/azureai-color.svg";
import aws from "@lobehub/icons-static-svg/icons/bedrock-color.svg";
import claude from "@lobehub/icons-static-svg/icons/claude-color.svg";
import claudeCode from "@lobehub/icons-static-svg/icons/claudecode-color.svg";
import cline from "@lobehub/icons-static-svg/icons/cline.svg";
import codex from "@lobehub/icons-static-svg/icons/codex-color.svg";
import cohere from "@lobehub/icons-static-svg/icons/cohere-color.svg";
import cursor from "@lobehub/icons-static-svg/icons/cursor.svg";
import deepseek from "@lobehub/icons-static-svg/icons/deepseek-color.svg";
import doubao from "@lobehub/icons-static-svg/icons/doubao-color.svg";
import fal from "@lobehub/icons-static-svg/icons/fal-color.svg";
import fireworks from "@lobehub/icons-static-svg/icons/fireworks-color.svg";
import flux from "@lobehub/icons-static-svg/icons/flux.svg";
import gemini from "@lobehub/icons-static-svg/icons/gemini-color.svg";
import geminiCli from "@lobehub/icons-static-svg/icons/geminicli-color.svg";
import gemma from "@lobehub/icons-static-svg/icons/gemma-color.svg";
import groq from "@lobehub/icons-static-svg/icons/groq.svg";
import hunyuan from "@lobehub/icons-static-svg/icons/hunyuan-color.svg";
import jina from "@lobehub/icons-static-svg/icons/jina.svg";
import kling from "@lobehub/icons-static-svg/icons/kling-color.svg";
import meta from "@lobehub/icons-static-svg/icons/meta-color.svg";
import microsoft from "@lobehub/icons-static-svg/icons/microsoft-color.svg";
import minimax from "@lobehub/icons-static-svg/icons/minimax-color.svg";
import mistral from "@lobehub/icons-static-svg/icons/mistral-color.svg";
import kimi from "@lobehub/icons-static-svg/icons/moonshot.svg";
import nova from "@lobehub/icons-static-svg/icons/nova-color.svg";
import nvidia from "@lobehub/icons-static-svg/icons/nvidia-color.svg";
import ollama from "@lobehub/icons-static-svg/icons/ollama.svg";
import openai from "@lobehub/icons-static-svg/icons/openai.svg";
import opencode from "@lobehub/icons-static-svg/icons/opencode.svg";
import openrouter from "@lobehub/icons-static-svg/icons/openrouter-color.svg";
import openWebui from "@lobehub/icons-static-svg/icons/openwebui.svg";
import qwen from "@lobehub/icons-static-svg/icons/qwen-color.svg";
import replicate from "@lobehub/icons-static-svg/icons/replicate.svg";
import runway from "@lobehub/icons-static-svg/icons/runway.svg";
import stability from "@lobehub/icons-static-svg/icons/stability-color.svg";
import together from "@lobehub/icons-static-svg/icons/together-color.svg";
import vertex from "@lobehub/icons-static-svg/icons/vertexai-color.svg";
import vidu from "@lobehub/icons-static-svg/icons/vidu-color.svg";
import vllm from "@lobehub/icons-static-svg/icons/vllm-color.svg";
import bytedance from "@lobehub/icons-static-svg/icons/volcengine-color.svg";
import baidu from "@lobehub/icons-static-svg/icons/wenxin-color.svg";
import xai from "@lobehub/icons-static-svg/icons/xai.svg";
import yi from "@lobehub/icons-static-svg/icons/yi-color.svg";
import zhipu from "@lobehub/icons-static-svg/icons/zhipu-color.svg";

/** Logos with their own colors. The page loads each one when it is first shown. */
const colored = {
  aws,
  azure,
  baidu,
  bytedance,
  claude,
  "claude-code": claudeCode,
  codex,
  cohere,
  deepseek,
  doubao,
  fal,
  fireworks,
  gemini,
  "gemini-cli": geminiCli,
  gemma,
  hunyuan,
  kling,
  meta,
  microsoft,
  minimax,
  mistral,
  nova,
  nvidia,
  openrouter,
  qwen,
  stability,
  together,
  vertex,
  vidu,
  vllm,
  yi,
  zhipu,
} as const;

/** Logos of one color, drawn in the color of the text, so that they also fit the dark theme. */
const plain = {
  anthropic,
  cline,
  cursor,
  flux,
  groq,
  jina,
  kimi,
  ollama,
  openai,
  opencode,
  "open-webui": openWebui,
  replicate,
  runway,
  xai,
} as const;

export type VendorIcon = keyof typeof colored | keyof typeof plain;

export function vendorIcon(name: VendorIcon): { readonly url: string; readonly plain: boolean } {
  return name in plain
    ? { url: plain[name as keyof typeof plain], plain: true }
    : { url: colored[name as keyof typeof colored], plain: false };
}
