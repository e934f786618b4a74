import { XmlElement } from '@rgrove/parse-xml'
import { localName } from './read-xml.ts'

/** Elements two levels below an element. */
export const within = (element: XmlElement, list: string, item: string): XmlElement[] =>
  children(element, list).flatMap(each => children(each, item))

export const children = (element: XmlElement, name: string): XmlElement[] =>
  element.children.filter((child): child is XmlElement => child instanceof XmlElement && localName(child.name) === name)

/** Value of an attribute, whatever the prefix of its namespace. */
export const attribute = ({ attributes }: XmlElement, name: string): string | undefined =>
  attributes[name] ?? Object.entries(attributes).find(([each]) => localName(each) === name)?.[1]
