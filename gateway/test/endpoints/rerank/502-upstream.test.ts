import { badUpstreams } from "../forwarding-suite.ts";
import { rerankEndpoint } from "./endpoint.ts";

badUpstreams(rerankEndpoint);
