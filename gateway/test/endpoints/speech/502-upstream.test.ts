import { badUpstreams } from "../passed-suite.ts";
import { speechEndpoint } from "./endpoint.ts";

badUpstreams(speechEndpoint);
