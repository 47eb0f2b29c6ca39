import { badUpstreams } from "../passed-suite.ts";
import { rerankEndpoint } from "./endpoint.ts";

badUpstreams(rerankEndpoint);
