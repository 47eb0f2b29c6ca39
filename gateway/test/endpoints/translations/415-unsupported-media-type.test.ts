import { otherMediaTypes } from "../forwarding-suite.ts";
import { translationsEndpoint } from "./endpoint.ts";

otherMediaTypes(translationsEndpoint);
