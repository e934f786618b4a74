import { type DataFile, isPlausible, type Meta, PAGE, PAGE_HEADER_BYTES, readTree, type Tree } from './data-file.ts'
import { compareKeys, NODE, nodesOf, type PageNode, problemOfPage } from './page-nodes.ts'

const TREE_BYTES = 48
/** Maximum number of problems that are reported. */
const MAX_PROBLEMS = 100
const PROGRESS_PAGES = 5_000

interface PageProgress {
  /** Number of pages checked so far; `pages` is the number of pages of the snapshot. */
  checkedPages: number
  total: number
}

interface WalkOptions {
  onProgress?: (progress: PageProgress) => void
  /** Checks only the root pages of trees: enough to open the store, in less than a millisecond. */
  rootsOnly?: boolean
  /** Called with each table that the snapshot has. */
  onTable?: (name: string, tree: Tree) => void
}

/**
 * Checks every page that a snapshot reaches, and the list of free pages. None of its pages may be reused meanwhile: the caller has
 * exclusive use of the store, or a read transaction that is not newer.
 * @returns a message for each unusable page, with the table that it belongs to
 */
export function walkPages(file: DataFile, meta: Meta, options: WalkOptions = {}): string[] {
  const walk = new Walk(file, meta, options)
  walk.run()
  return walk.problems
}

/** A tree that is being checked. */
interface Subject {
  readonly name: string
  /** False if only its root page is checked. */
  readonly isWhole: boolean
  /** True if keys are transaction numbers, false for bytes. */
  readonly hasNumbers: boolean
  readonly onEntry?: ((page: Buffer, node: PageNode) => void) | undefined
  branch: number
  leaf: number
  overflow: number
  entries: number
}

class Walk {
  readonly problems: string[] = []
  /** A bit for each page of the file, set when something refers to it. */
  private readonly usedPages: Uint8Array
  private readonly limit: number
  private seenPages = 0

  constructor(
    private readonly file: DataFile,
    private readonly meta: Meta,
    private readonly options: WalkOptions,
  ) {
    this.limit = Math.min(file.pages, meta.lastPage + 1)
    this.usedPages = new Uint8Array(Math.ceil(this.limit / 8))
  }

  run(): void {
    const { main, free } = this.meta
    this.tree('the list of tables', main, { onEntry: (page, node) => this.table(page, node) })
    this.tree('the list of free pages', free, {
      hasNumbers: true,
      onEntry: (page, node) => this.freePages(page, node),
    })
  }

  private report(text: string): void {
    if (this.problems.length < MAX_PROBLEMS) this.problems.push(text)
    else if (this.problems.length === MAX_PROBLEMS) this.problems.push('… there are more damaged pages')
  }

  private tree(name: string, tree: Tree, special: Partial<Pick<Subject, 'hasNumbers' | 'onEntry'>> = {}): void {
    if (!isPlausible(tree, this.meta)) {
      this.report(`${name} has a damaged description`)
      return
    }
    if (tree.root === undefined) return
    const { hasNumbers = false, onEntry } = special
    // Tables are found through the table list, which is read in any case.
    const isWhole = !this.options.rootsOnly || (onEntry !== undefined && !hasNumbers)
    const visitedTree: Subject = { name, isWhole, hasNumbers, onEntry, branch: 0, leaf: 0, overflow: 0, entries: 0 }
    const before = this.problems.length
    this.visit(visitedTree, tree.root, tree.depth)
    // The counts of a tree with damaged pages differ in any case.
    if (!isWhole || this.problems.length > before) return
    const { branchPages, leafPages, overflowPages, entries } = tree
    const isSame =
      visitedTree.branch === branchPages &&
      visitedTree.leaf === leafPages &&
      visitedTree.overflow === overflowPages &&
      visitedTree.entries === entries
    if (!isSame) {
      const countText = `${visitedTree.entries} entries on ${visitedTree.branch + visitedTree.leaf + visitedTree.overflow} pages`
      this.report(`${name} has ${countText}, but says ${entries} on ${branchPages + leafPages + overflowPages}`)
    }
  }

  /** @param level of the page: 1 for leaves */
  private visit(subject: Subject, number: number, level: number): void {
    const { name, hasNumbers } = subject
    if (!this.take(name, number, 1)) return
    const pageBytes = this.file.page(number)
    const problem = pageBytes
      ? problemOfPage(pageBytes, number, { isLeaf: level === 1, hasNumbers })
      : 'is behind the end of the file'
    if (problem !== undefined) {
      this.report(`page ${number} of ${name} ${problem}`)
      return
    }
    if (!subject.isWhole) return
    // Pages below are read into the same buffer.
    const page = Buffer.from(pageBytes!)
    subject[level > 1 ? 'branch' : 'leaf']++
    let previous: PageNode | undefined
    for (const node of nodesOf(page)) {
      // The first key of a branch page is never compared.
      const isCompared = previous !== undefined && (level === 1 || previous.index > 0)
      if (isCompared && compareKeys(page, previous!, node, hasNumbers) >= 0) {
        this.report(`page ${number} of ${name} is damaged: its keys do not ascend`)
        return
      }
      previous = node
      if (level > 1) this.visit(subject, node.child, level - 1)
      else {
        subject.entries++
        if ((node.flags & NODE.BIG) === 0 || this.big(subject, page, node)) subject.onEntry?.(page, node)
      }
    }
  }

  /** Checks the pages of a value that does not fit on its leaf. @returns false when they cannot be used */
  private big(subject: Subject, page: Buffer, node: PageNode): boolean {
    const { name } = subject
    const [first, pages] = [Number(page.readBigUInt64LE(node.dataAt)), Number(page.readBigUInt64LE(node.dataAt + 16))]
    // A smaller value that replaces one of the same transaction has all of its pages.
    if (pages < Math.floor((PAGE_HEADER_BYTES - 1 + node.size) / this.file.pageBytes) + 1) {
      this.report(`${name} has a value of ${node.size} bytes on ${pages} pages`)
      return false
    }
    subject.overflow += pages
    if (!this.take(name, first, pages)) return false
    const head = this.file.page(first)!
    const isRight =
      Number(head.readBigUInt64LE(0)) === first &&
      (head.readUInt16LE(18) & PAGE.OVERFLOW) !== 0 &&
      head.readUInt32LE(20) === pages
    if (!isRight) this.report(`page ${first} of ${name} is damaged: it does not hold the value that is to be there`)
    return isRight
  }

  /** Marks pages as used. @returns false if that is not possible */
  private take(name: string, first: number, count: number): boolean {
    this.seenPages += count
    if (this.seenPages % PROGRESS_PAGES < count) {
      this.options.onProgress?.({ checkedPages: Math.min(this.seenPages, this.limit), total: this.limit })
    }
    if (first < 2 || first + count - 1 > this.meta.lastPage) {
      this.report(`${name} refers to page ${first}, which the file does not have`)
      return false
    }
    if (first + count > this.limit) {
      this.report(`page ${first} of ${name} is behind the end of the file`)
      return false
    }
    for (let page = first; page < first + count; page++) {
      if (this.isUsed(page)) {
        this.report(`page ${page} of ${name} is in use elsewhere too`)
        return false
      }
      this.usedPages[page >> 3]! |= 1 << (page & 7)
    }
    return true
  }

  private isUsed(page: number): boolean {
    return (this.usedPages[page >> 3]! & (1 << (page & 7))) !== 0
  }

  private table(page: Buffer, node: PageNode): void {
    if ((node.flags & NODE.TREE) === 0) return
    const name = `table "${page.toString('latin1', node.keyAt, node.keyAt + node.keyBytes).replace(/\0$/, '')}"`
    if (node.size !== TREE_BYTES) {
      this.report(`${name} has a damaged description`)
      return
    }
    const tree = readTree(page, node.dataAt)
    this.options.onTable?.(name, tree)
    this.tree(name, tree)
  }

  /** Checks an entry of the list of free pages: page numbers, with a negative length before the first one of a run. */
  private freePages(page: Buffer, node: PageNode): void {
    const list = Buffer.alloc(node.size)
    if (node.flags & NODE.BIG) {
      const first = Number(page.readBigUInt64LE(node.dataAt))
      this.file.read(list, first * this.file.pageBytes + PAGE_HEADER_BYTES)
    } else page.copy(list, 0, node.dataAt, node.dataAt + node.size)
    const length = list.length >= 8 ? Number(list.readBigInt64LE(0)) : -1
    if (length < 0 || list.length < 8 * (length + 1)) {
      this.report('the list of free pages has a damaged entry')
      return
    }
    for (let i = 1; i <= length; i++) {
      const entry = Number(list.readBigInt64LE(8 * i))
      if (entry === 0) continue
      const count = Math.max(1, -entry)
      if (entry < 0) i++
      const first = i <= length ? Number(list.readBigInt64LE(8 * i)) : 0
      if (!this.takeFree(first, count)) return
    }
  }

  /** Marks free pages. They may be beyond the end of the file: LMDB does not write a page that it freed immediately. */
  private takeFree(first: number, count: number): boolean {
    if (first < 2 || first + count - 1 > this.meta.lastPage) {
      this.report(`page ${first} is in the list of free pages, but the file does not have it`)
      return false
    }
    for (let page = first; page < Math.min(first + count, this.limit); page++) {
      if (this.isUsed(page)) {
        this.report(`page ${page} is in the list of free pages, but in use`)
        return false
      }
      this.usedPages[page >> 3]! |= 1 << (page & 7)
    }
    return true
  }
}
